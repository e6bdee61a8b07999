#include "shim/frame.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <limits>

#include "shim/record.h"

namespace heddle::shim {
namespace {

constexpr std::int64_t kVersion = 1;

}  // namespace

std::string Frame::encode() const {
  Record record;
  record.add_number("type", static_cast<std::int64_t>(type));
  record.add_number("allocation", static_cast<std::int64_t>(identity.allocation));
  record.add_number("attempt", identity.attempt);
  record.add_number("epoch", identity.epoch);
  record.add("nonce", identity.nonce);
  record.add_number("grace_ms", grace_ms);
  record.add_number("at_ms", at_ms);
  record.add("exit", exit);
  return record.encode("frame", kVersion);
}

Result<Frame> Frame::parse(std::string_view bytes) {
  const Result<Record> record = Record::parse(bytes, "frame", kVersion);
  if (!record) return record.error();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  RecordReader reader{*record};
  Frame frame;
  frame.type = static_cast<Type>(reader.number("type", 0, kTypeCount - 1));
  frame.identity.allocation = static_cast<std::uint64_t>(
      reader.number("allocation", std::numeric_limits<std::int64_t>::min(), kMax));
  frame.identity.attempt = reader.number("attempt", 0, kMax);
  frame.identity.epoch = reader.number("epoch", 0, kMax);
  frame.identity.nonce = reader.text("nonce", 64);
  frame.grace_ms = reader.number("grace_ms", 0, 24 * 3'600'000);
  frame.at_ms = reader.number("at_ms", 0, kMax / 4);
  frame.exit = reader.text("exit", kMaxBytes);
  if (!reader.ok()) return reader.error();
  return frame;
}

bool send_frame(int socket, const Frame& frame) {
  const std::string bytes = frame.encode();
  return send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

Receipt receive_frame(int socket, Frame& frame) {
  std::array<char, Frame::kMaxBytes> bytes;
  ssize_t size = 0;
  do {
    size = recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_TRUNC);
  } while (size < 0 && errno == EINTR);
  if (size < 0) return errno == EAGAIN ? Receipt::kNothing : Receipt::kClosed;
  if (size == 0 || static_cast<std::size_t>(size) > bytes.size()) return Receipt::kClosed;
  Result<Frame> parsed = Frame::parse({bytes.data(), static_cast<std::size_t>(size)});
  if (!parsed) return Receipt::kClosed;
  frame = std::move(*parsed);
  return Receipt::kFrame;
}

}  // namespace heddle::shim
