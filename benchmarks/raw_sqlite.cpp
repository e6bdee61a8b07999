#include "raw_sqlite.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "store/sqlite/schema.h"
#include "timing.h"

namespace heddle::bench {
namespace {

sqlite3* db = nullptr;

void must(int code) {
  if (code == SQLITE_OK || code == SQLITE_DONE) return;
  std::fprintf(stderr, "SQLite: %s\n", sqlite3_errmsg(db));
  std::exit(1);
}

sqlite3_stmt* prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  must(sqlite3_prepare_v2(db, sql, -1, &statement, nullptr));
  return statement;
}

void run(sqlite3_stmt* statement) {
  must(sqlite3_step(statement));
  must(sqlite3_reset(statement));
}

void execute(const char* sql) { must(sqlite3_exec(db, sql, nullptr, nullptr, nullptr)); }

void open_new(const std::string& folder) {
  const std::string file = folder + "/raw.db";
  for (const char* end : {"", "-wal", "-shm"}) unlink((file + end).c_str());
  must(sqlite3_open(file.c_str(), &db));
  execute(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;"
      " PRAGMA cache_size = -16000");
  for (const sqlite::Migration& step : sqlite::migrations()) execute(step.sql);
}

// Whatever columns the table has by now: a waiting workload is zeros but for these.
std::string insert_workload() {
  std::string values;
  sqlite3_stmt* columns = prepare("SELECT name, type FROM pragma_table_info('workloads')");
  while (sqlite3_step(columns) == SQLITE_ROW) {
    const std::string name{reinterpret_cast<const char*>(sqlite3_column_text(columns, 0))};
    const std::string type{reinterpret_cast<const char*>(sqlite3_column_text(columns, 1))};
    values += values.empty() ? "" : ", ";
    if (name == "id" || name == "name")
      values += name == "id" ? "?1" : "?2";
    else if (name == "team" || name == "owner" || name == "version")
      values += "1";
    else if (name == "submitted_at" || name == "waiting_since")
      values += "1764530000000";
    else
      values += type == "TEXT" ? "''" : "0";
  }
  must(sqlite3_finalize(columns));
  return "INSERT INTO workloads VALUES (" + values + ")";
}

struct Statements {
  sqlite3_stmt* begin = prepare("BEGIN IMMEDIATE");
  sqlite3_stmt* commit = prepare("COMMIT");
  sqlite3_stmt* head = prepare("UPDATE head SET batch = ?, last_id = ?, last_feed_seq = ?");
  sqlite3_stmt* workload = prepare(insert_workload().c_str());
  sqlite3_stmt* spec = prepare("INSERT INTO workload_specs VALUES (?, ?)");
  sqlite3_stmt* feed =
      prepare("INSERT INTO feed VALUES (?, 1764530000000, 2, 8, ?, 'submitted', ?)");
  sqlite3_stmt* audit = prepare(
      "INSERT INTO audit VALUES (?, 1764530000000, 1, 'workload.submit', 8, ?, 2, 'done', ?)");
  ~Statements() {
    for (sqlite3_stmt* one : {begin, commit, head, workload, spec, feed, audit})
      sqlite3_finalize(one);
  }
};

void bind(sqlite3_stmt* statement, int at, const std::string& text) {
  must(
      sqlite3_bind_text(statement, at, text.c_str(), static_cast<int>(text.size()), SQLITE_STATIC));
}

void write_submit(const Statements& s, std::int64_t id) {
  const std::string name = "train-" + std::to_string(id);
  const std::string request = "rq_" + std::to_string(id);
  const std::string spec =
      "{\"name\":\"" + name +
      "\",\"project\":\"\",\"kind\":0,\"class\":1,\"priority\":0,\"request\":[1,125,0,0,0],"
      "\"replicas\":1,\"pools\":[4],\"procs_per_node\":1,\"command\":[\"/bin/true\"],\"env\":[],"
      "\"files\":[],\"time_limit_ms\":600000,\"grace_ms\":30000,\"retries\":0}";
  must(sqlite3_bind_int64(s.workload, 1, id));
  bind(s.workload, 2, name);
  run(s.workload);
  must(sqlite3_bind_int64(s.spec, 1, id));
  bind(s.spec, 2, spec);
  run(s.spec);
  must(sqlite3_bind_int64(s.feed, 1, id));
  must(sqlite3_bind_int64(s.feed, 2, id));
  bind(s.feed, 3, name);
  run(s.feed);
  must(sqlite3_bind_int64(s.audit, 1, id));
  must(sqlite3_bind_int64(s.audit, 2, id));
  bind(s.audit, 3, request);
  run(s.audit);
}

}  // namespace

RawResult write_raw(const std::string& folder, const RawRun& wanted) {
  open_new(folder);
  std::vector<double> commits_ms;
  const Stopwatch whole;
  {
    const Statements s;
    for (std::int64_t id = 0; id < wanted.rows;) {
      const Stopwatch one;
      run(s.begin);
      for (std::int64_t n = 0; n < wanted.batch && id < wanted.rows; ++n) write_submit(s, ++id);
      must(sqlite3_bind_int64(s.head, 1, id));
      must(sqlite3_bind_int64(s.head, 2, id));
      must(sqlite3_bind_int64(s.head, 3, id));
      run(s.head);
      run(s.commit);
      commits_ms.push_back(one.ms());
    }
  }
  const double seconds = whole.ms() / 1000;
  must(sqlite3_close(db));
  db = nullptr;
  return {static_cast<double>(wanted.rows) / seconds, median(commits_ms)};
}

}  // namespace heddle::bench
