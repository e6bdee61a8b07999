// The auditor: checks every book against every other. Used by tests, simulator and server.
#pragma once

#include <string>
#include <vector>

#include "core/model/state.h"

namespace heddle {

// One sentence per broken invariant, naming it and the ids concerned; empty when clean. Pure; costs
// a full walk of the state.
//
//   I1  no device holds more than 1000 milli; it is whole or shared, never both; every lease is of
//       a device of the allocation's node
//   I3  a run has exactly one live or released allocation for each replica; at least one is live,
//       and the live ones are all in one pool
//   I7  what is charged is what was asked, and charged use is a part of the lease
//   L1  every live allocation belongs to a live workload and to its present run; only releasing and
//       lost ones may be left from a run before; what waits holds nothing else
//   T1  time stamps are there when the state says so, and in order
//   R1  every row that is referred to exists, names are unique, the tree has no ring
//   X1  every index equals what rebuilt() makes
//
// Limits (I2) cannot be judged from one state: a limit may be lowered below what is held. They are
// judged where work starts, by audit_starts().
std::vector<std::string> audit(const State& state);

// Judges what started between two states, before and after one planning round:
//
//   I2  no level of the tree is above its limit in a pool where something of it started
//   I3  every run that started has exactly one allocation for each replica
//   N1  no node where something started is above its CPU or memory, or does not take work
std::vector<std::string> audit_starts(const State& before, const State& after);

}  // namespace heddle
