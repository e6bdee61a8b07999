// Frame: one packet between the engine and a shim.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "shim/order.h"

namespace heddle::shim {

// Sockets are SOCK_SEQPACKET, so that one packet is one frame. A frame whose identity is not the
// run's, or whose epoch is older than one seen before, is refused and the connection is closed.
struct Frame {
  enum class Type : std::uint8_t {
    kHello,    // engine: I am the server now; answered by what is known so far
    kStop,     // engine: SIGTERM, `grace_ms`, then the whole tree
    kForget,   // engine: the exit is recorded, no need to keep it
    kRunning,  // shim: the program's first instruction was due, at `at_ms`
    kEnded,    // shim: `exit` holds an ExitRecord
  };
  static constexpr std::int64_t kTypeCount = 5;
  static constexpr std::size_t kMaxBytes = 8192;

  Type type = Type::kHello;
  RunIdentity identity;
  std::int64_t grace_ms = 0;
  std::int64_t at_ms = 0;
  std::string exit;  // bytes of an ExitRecord
  friend bool operator==(const Frame&, const Frame&) = default;

  std::string encode() const;
  static Result<Frame> parse(std::string_view bytes);
};

// Sends without blocking; false when the other end is gone or does not read.
bool send_frame(int socket, const Frame& frame);

enum class Receipt : std::uint8_t { kFrame, kNothing, kClosed };  // kClosed: also after garbage
// Takes one frame if one is there. Never blocks.
Receipt receive_frame(int socket, Frame& frame);

}  // namespace heddle::shim
