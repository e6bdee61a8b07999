// Record: a small, versioned list of named byte strings; the form of every file and frame of ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace heddle::shim {

// Bytes: "heddle KIND VERSION\n", then for each field "NAME LENGTH\nVALUE\n", then "end\n". Values
// hold any bytes; names are [a-z_]{1,32} and may come several times (a list). A truncated record
// never parses, because "end" is missing.
class Record {
 public:
  static constexpr std::size_t kMaxFields = 8192;
  static constexpr std::size_t kMaxBytes = 1 << 20;

  void add(std::string_view name, std::string_view value);
  void add_number(std::string_view name, std::int64_t value);
  std::string encode(std::string_view kind, std::int64_t version) const;

  // Foreign bytes are welcome: anything that encode() would not print is invalid_argument.
  static Result<Record> parse(std::string_view bytes, std::string_view kind, std::int64_t version);

  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// Takes a record apart. A missing or malformed field makes ok() false and gives an empty value, so
// that callers check once, at the end.
class RecordReader {
 public:
  explicit RecordReader(const Record& record) : record_{record} {}

  std::string text(std::string_view name, std::size_t max_bytes);
  std::int64_t number(std::string_view name, std::int64_t min, std::int64_t max);
  std::vector<std::string> list(std::string_view name, std::size_t max_items);

  bool ok() const { return bad_field_.empty(); }
  Error error() const;  // names the first bad field; only when !ok()

 private:
  const std::string* find(std::string_view name) const;
  void bad(std::string_view name);

  const Record& record_;
  std::string bad_field_;
};

}  // namespace heddle::shim
