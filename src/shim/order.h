// Order: all that one shim must know, as it lies in the run folder before the shim starts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/sandbox.h"

namespace heddle::shim {

// Who is meant. Every frame carries it, so that nobody speaks for another run or an older server.
struct RunIdentity {
  std::uint64_t allocation = 0;
  std::int64_t attempt = 0;
  std::int64_t epoch = 0;
  std::string nonce;  // 32 hexadecimal digits, made for this one run
  friend bool operator==(const RunIdentity&, const RunIdentity&) = default;
};

struct Order {
  RunIdentity identity;
  bool isolate = true;  // false: a plain process, only where the operator allowed it
  // The server's time line: it was anchor_instant_ms when the boot clock showed anchor_boot_ms.
  std::int64_t anchor_instant_ms = 0;
  std::int64_t anchor_boot_ms = 0;
  std::string anchor_boot;  // which boot of the machine that was
  std::string log_folder;   // absolute, exists
  std::int64_t log_segment_bytes = 8 << 20;
  std::int64_t log_segments = 2;  // how many are kept
  sandbox::Spec program;          // file descriptors are not part of the order

  std::string encode() const;
  static Result<Order> parse(std::string_view bytes);
};

}  // namespace heddle::shim
