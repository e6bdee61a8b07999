#include "shim/exit_record.h"

#include <limits>

#include "shim/record.h"

namespace heddle::shim {
namespace {

constexpr std::int64_t kVersion = 1;

}  // namespace

std::string ExitRecord::encode() const {
  Record record;
  record.add_number("allocation", static_cast<std::int64_t>(allocation));
  record.add_number("attempt", attempt);
  record.add_number("cause", static_cast<std::int64_t>(cause));
  record.add_number("exit_code", exit_code);
  record.add_number("signal", signal);
  record.add("message", std::string_view{message}.substr(0, kMessageBytes));
  record.add_number("running_at_ms", running_at_ms);
  record.add_number("ended_at_ms", ended_at_ms);
  record.add_number("released_at_ms", released_at_ms);
  record.add_number("cpu_ms", cpu_ms);
  record.add_number("peak_memory_bytes", peak_memory_bytes);
  return record.encode("exit", kVersion);
}

Result<ExitRecord> ExitRecord::parse(std::string_view bytes) {
  const Result<Record> record = Record::parse(bytes, "exit", kVersion);
  if (!record) return record.error();
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  RecordReader reader{*record};
  ExitRecord exit;
  exit.allocation = static_cast<std::uint64_t>(reader.number("allocation", kMin, kMax));
  exit.attempt = reader.number("attempt", 0, kMax);
  exit.cause = static_cast<Cause>(reader.number("cause", 0, kCauseCount - 1));
  exit.exit_code = reader.number("exit_code", 0, 255);
  exit.signal = reader.number("signal", 0, 64);
  exit.message = reader.text("message", kMessageBytes);
  exit.running_at_ms = reader.number("running_at_ms", 0, kMax / 4);
  exit.ended_at_ms = reader.number("ended_at_ms", 0, kMax / 4);
  exit.released_at_ms = reader.number("released_at_ms", 0, kMax / 4);
  exit.cpu_ms = reader.number("cpu_ms", 0, kMax / 4);
  exit.peak_memory_bytes = reader.number("peak_memory_bytes", 0, kMax / 4);
  if (!reader.ok()) return reader.error();
  return exit;
}

}  // namespace heddle::shim
