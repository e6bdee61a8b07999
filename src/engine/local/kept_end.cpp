#include "engine/local/kept_end.h"

#include "shim/run_folder.h"

namespace heddle::local {
namespace {

using Cause = shim::ExitRecord::Cause;

constexpr const char* kFile = "end";
constexpr std::size_t kMaxBytes = 16 * 1024;

}  // namespace

void keep_end(const std::string& log_folder, const shim::ExitRecord& exit) {
  const bool began = exit.cause != Cause::kNeverStarted && exit.cause != Cause::kStartFailed;
  if (!began || log_folder.empty()) return;
  const shim::Fd folder = shim::open_folder(log_folder);
  if (folder.is_open()) (void)shim::write_file(folder.get(), kFile, exit.encode()).has_value();
}

std::optional<shim::ExitRecord> kept_end(const std::string& log_folder) {
  const shim::Fd folder = shim::open_folder(log_folder);
  if (!folder.is_open()) return std::nullopt;
  const Result<std::string> bytes = shim::read_file(folder.get(), kFile, kMaxBytes);
  if (!bytes && bytes.error().code == ErrorCode::kNotFound) return std::nullopt;
  const Result<shim::ExitRecord> exit =
      bytes ? shim::ExitRecord::parse(*bytes) : Result<shim::ExitRecord>{bytes.error()};
  if (exit) return *exit;
  shim::ExitRecord lost;
  lost.cause = Cause::kLost;
  lost.message = "The record of this run's end is damaged.";
  return lost;
}

}  // namespace heddle::local
