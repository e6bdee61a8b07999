// Connection and Query: SQLite's C API with kept statements and typed values. Private to the
// folder.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/gpu_amount.h"
#include "base/id.h"
#include "base/money.h"
#include "base/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace heddle::sqlite {

struct BlobView {
  std::string_view bytes;
};
// An enum read back: checked against how many values there are.
template <class E>
struct Counted {
  E& value;
  int count;
};
template <class E>
Counted<E> counted(E& value, int count) {
  return {value, count};
}

// Ids that people ask for may be any number; those above the greatest that is ever stored become
// -1, which no row has.
std::int64_t stored_form(std::uint64_t id);

class Connection;

// One run of a kept statement. What was bound must live as long as the Query. Every call throws
// Failure on error.
class Query {
 public:
  ~Query();  // resets the statement for its next use
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  bool next();  // true: a row is there

  // Reads the row's columns from the first on.
  template <class... T>
  void take(T&&... values) {
    column_ = 0;
    (take_one(values), ...);
  }
  // Reads the columns that follow those taken so far.
  template <class... T>
  void take_more(T&&... values) {
    (take_one(values), ...);
  }
  // Text of the next column, valid until next().
  std::string_view take_view();

 private:
  friend class Connection;
  Query(Connection& connection, sqlite3_stmt* statement)
      : connection_{connection}, statement_{statement} {}

  void bind_one(std::int64_t value);
  void bind_one(bool value) { bind_one(std::int64_t{value}); }
  void bind_one(std::string_view text);
  void bind_one(const std::string& text) { bind_one(std::string_view{text}); }
  void bind_one(BlobView blob);
  void bind_one(Instant at) { bind_one(at.ms); }
  void bind_one(GpuAmount amount) { bind_one(amount.as_milli()); }
  void bind_one(Money money) { bind_one(money.micros); }
  void bind_id(std::uint64_t id);
  template <class Tag>
  void bind_one(Id<Tag> id) {
    bind_id(id.value);
  }
  template <class E>
  requires std::is_enum_v<E>
  void bind_one(E value) { bind_one(std::int64_t{static_cast<std::uint8_t>(value)}); }

  std::int64_t take_integer(std::int64_t low, std::int64_t high);
  void take_one(std::int64_t& value) { value = take_integer(INT64_MIN, INT64_MAX); }
  void take_one(bool& value) { value = take_integer(0, 1) == 1; }
  void take_one(std::string& text) { text = take_view(); }
  void take_one(Instant& at) { take_one(at.ms); }
  void take_one(GpuAmount& amount) { amount = GpuAmount::milli(take_integer(0, INT64_MAX)); }
  void take_one(Money& money) { take_one(money.micros); }
  void take_one(std::uint64_t& id) { id = static_cast<std::uint64_t>(take_integer(0, INT64_MAX)); }
  void take_one(std::array<std::uint8_t, 32>& hash);
  template <class Tag>
  void take_one(Id<Tag>& id) {
    take_one(id.value);
  }
  template <class E>
  void take_one(Counted<E>& e) {
    e.value = static_cast<E>(take_integer(0, e.count - 1));
  }

  Connection& connection_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
  int column_ = 0;
};

enum class Access : std::uint8_t { kReadWrite, kReadOnly };

// One connection with its kept statements. One thread at a time. Functions throw Failure.
class Connection {
 public:
  // The file must exist. `vfs` empty: the system's.
  Connection(std::string file, Access access, const std::string& vfs = {});
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const std::string& file() const { return file_; }
  sqlite3* raw() { return db_; }

  // `sql` is a literal: statements are kept by its address.
  template <class... Values>
  std::unique_ptr<Query> query(const char* sql, const Values&... values) {
    std::unique_ptr<Query> query{new Query{*this, statement(sql)}};
    (query->bind_one(values), ...);
    return query;
  }
  // Runs a change to its end; gives how many rows it touched.
  template <class... Values>
  std::int64_t run(const char* sql, const Values&... values) {
    Query query{*this, statement(sql)};
    (query.bind_one(values), ...);
    query.next();
    return changes();
  }
  // The first column of the first row, a whole number; 0 when there is no row.
  std::int64_t number(const char* sql);

  // Several statements at once, none kept.
  void execute(const std::string& sql);

 private:
  friend class Query;
  sqlite3_stmt* statement(const char* sql);
  std::int64_t changes();
  void close();

  std::string file_;
  sqlite3* db_ = nullptr;
  std::unordered_map<const char*, sqlite3_stmt*> statements_;
};

// kRead sees one moment of the database; kWrite also keeps other writers out.
enum class Span : std::uint8_t { kRead, kWrite };

// BEGIN, and ROLLBACK unless committed.
class Transaction {
 public:
  Transaction(Connection& connection, Span span);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Connection& connection_;
  bool open_ = true;
};

}  // namespace heddle::sqlite
