// The first process of a sandbox: sets it up from inside, starts the program, reaps, ends the tree.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/cgroup.h"
#include "sandbox/devices.h"
#include "sandbox/sandbox.h"

namespace heddle::sandbox {

// What the first process says to the one that started it, over a packet socket: one letter, then
// for an error its code and sentence, for an end the wait status. The other way: a signal's number
// as one byte, for every process of the program.
inline constexpr char kStarted = 'S', kFailed = 'E', kEnded = 'X';

struct InitOrder {
  const Spec& spec;
  const std::vector<HeldDevice>& devices;
  Cgroup& group;
  CgroupMode mode;
  int control;  // our end of the socket
};

// The whole life of the first process, called in the child straight after the clone. The tree ends
// with the program, and also when the other end of the socket closes: a shim that is killed takes
// its program along, so nothing runs that nobody answers for.
[[noreturn]] void run_init(const InitOrder& order);

}  // namespace heddle::sandbox
