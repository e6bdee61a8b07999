// What plain SQLite needs to write the same rows as a durable submit: the yardstick beside our own.
#pragma once

#include <cstdint>
#include <string>

namespace heddle::bench {

struct RawRun {
  std::int64_t rows = 0;   // submits in all
  std::int64_t batch = 1;  // submits in each transaction
};

struct RawResult {
  double rows_per_s = 0;
  double commit_p50_ms = 0;  // of one transaction
};

// Into a new database in `folder`, which exists: the same tables and indexes, for each submit a
// workload, its spec, an event and an audit entry, for each transaction the head; kept statements,
// a write-ahead log, synchronous=FULL. Ends the process with a message when SQLite fails.
RawResult write_raw(const std::string& folder, const RawRun& run);

}  // namespace heddle::bench
