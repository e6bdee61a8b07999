// What is kept about a sandbox that was started.
#pragma once

#include <memory>

#include "sandbox/cgroup.h"
#include "sandbox/descriptor.h"
#include "sandbox/sandbox.h"

namespace heddle::sandbox {

struct Running::Impl {
  pid_t pid = -1;
  Descriptor pidfd;
  Descriptor control;  // to the first process, see init.h
  std::unique_ptr<Cgroup> group;
  bool reaped = false;
};

}  // namespace heddle::sandbox
