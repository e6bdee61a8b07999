// Program: what a shim watches; in the sandbox, or plain where the operator allows no isolation.
#pragma once

#include <memory>

#include "base/result.h"
#include "sandbox/sandbox.h"

namespace heddle::shim {

class Program {
 public:
  virtual ~Program() = default;
  virtual pid_t pid() const = 0;  // its first process, host side
  virtual int pidfd() const = 0;  // readable when that process has ended
  virtual void signal(int signal_number) = 0;
  // True when nothing of the tree is left.
  virtual bool kill_tree(int timeout_ms) = 0;
  virtual Result<sandbox::Exit> finish() = 0;  // once, after pidfd() became readable
};

// Errors are sentences for people.
Result<std::unique_ptr<Program>> start_sandboxed(const sandbox::Spec& spec);
// No isolation at all: only the caller's own rights, its own session, and that the tree is ended
// (the caller must be the reaper of orphaned descendants).
Result<std::unique_ptr<Program>> start_plain(const sandbox::Spec& spec);

}  // namespace heddle::shim
