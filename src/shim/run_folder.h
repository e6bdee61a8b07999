// Run folder: the files by which server and shim agree on what became of a run.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

// A run folder holds, in the order in which they appear:
//   order    what to run; there before the folder has its name
//   sPID     the shim's socket, listening before `pid` is there
//   pid      who claimed the run: made once, with its content, for ever. Without it nothing
//   started. running  the sandbox's first process and since when it runs exit     an ExitRecord:
//   nothing is left
// or only `refused`: the run was stopped before it came and must never start.
namespace heddle::shim {

// A file descriptor that closes itself. -1: none.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_{fd} {}
  Fd(Fd&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { reset(); }
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

// ---- the machine's clock and its processes ----

std::int64_t boot_now_ms();  // CLOCK_BOOTTIME
std::string boot_id();       // changes at each boot of the machine

// A process that is not mistaken for a later one of the same number.
struct ProcessIdentity {
  pid_t pid = 0;
  std::int64_t start_ticks = 0;  // since boot
  std::string boot;
  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;

  std::string encode() const;
  static Result<ProcessIdentity> parse(std::string_view bytes);
};
// start_ticks 0 when there is no such process.
ProcessIdentity identify(pid_t pid);
// A pidfd of exactly that process; not open when it is gone.
Fd open_process(const ProcessIdentity& process);
// Whether the process behind a pidfd has ended.
bool has_ended(int pidfd);

// ---- files below an open folder, never through links ----

Fd open_folder(const std::string& path);
// not_found when it is not there; internal when it is a link, no plain file or above max_bytes.
Result<std::string> read_file(int folder, const std::string& name, std::size_t max_bytes);
// Every entry but . and .., in any order.
std::vector<std::string> names_in(int folder);
bool exists(int folder, const std::string& name);
// Whole or not at all: written beside and renamed. Not flushed to the disk: what runs dies with
// the machine, too.
Result<Done> write_file(int folder, const std::string& name, std::string_view bytes);
// The same, but only the first writer wins: conflict when it is there already.
Result<Done> create_file(int folder, const std::string& name, std::string_view bytes);

}  // namespace heddle::shim
