// BoxSimulation: one box under random work and random faults, with the auditor after every round.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "control/controller.h"
#include "engine/fake/fake_engine.h"
#include "sim/virtual_machine.h"
#include "store/faulty/faulty_store.h"
#include "store/memory/memory_store.h"

namespace heddle {

struct BoxFaults {
  bool crashes = true;         // the server is killed between any two steps
  bool store_failures = true;  // commits fail before, after (unknown outcome) or for a full disk
  bool odd_reports = true;     // late, doubled, swapped reports; lost orders
  bool lost_programs = true;
  bool clock_jumps = true;  // of the wall clock
};

// The whole control plane (memory store, fake engine, virtual clock). Deterministic by seed.
class BoxSimulation {
 public:
  BoxSimulation(std::uint64_t seed, BoxFaults faults);
  ~BoxSimulation();

  // Random life for `steps`, then everything is healed and must come to its end. Gives the first
  // few broken laws as sentences; empty when all held.
  std::vector<std::string> run(int steps);

 private:
  void boot();
  void crash();
  void live_one_step();
  void submit_something();
  void cancel_something();
  void change_something();
  void break_something();
  void round();
  void check_round();
  void heal();
  void check_end();
  void send(Command command, Controller::Completion done);
  void complain(std::string sentence);

  Rng rng_;
  BoxFaults faults_;
  VirtualClock clock_;
  SeededIds ids_;
  FakeWorld world_;
  std::shared_ptr<MemoryDisk> disk_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<FaultyStore> faulty_;
  std::unique_ptr<FakeEngine> engine_;
  std::unique_ptr<Controller> controller_;
  std::set<WorkloadId> acknowledged_;
  std::vector<std::string> complaints_;
  bool healed_ = false;
  std::int64_t names_ = 0;
};

}  // namespace heddle
