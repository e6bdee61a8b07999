// OneBox: a whole control plane on virtual time, for tests that tell one story.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "control/controller.h"
#include "engine/fake/fake_engine.h"
#include "sim/virtual_machine.h"
#include "store/faulty/faulty_store.h"
#include "store/memory/memory_store.h"

namespace heddle {

// Two nodes of eight simulated H100 each, pool `h100`, memory store, no faults unless planned.
class OneBox {
 public:
  explicit OneBox(FakeFaults faults = {});
  ~OneBox();

  Controller& controller() { return *controller_; }
  const State& state() { return (view_ = controller_->view())->state; }
  const View& view() { return *(view_ = controller_->view()); }
  Store& store() { return *store_; }
  FaultyStore& faulty() { return *faulty_; }
  FakeWorld& world() { return world_; }
  FakeEngine& engine() { return *engine_; }
  VirtualClock& clock() { return clock_; }
  UserId admin();
  PoolId pool();
  const std::string& admin_token() const { return admin_token_; }

  // Asks as `user` and gives the answer; an error `unavailable` if it stayed without one.
  Result<Outcome> ask(UserId user, Command command);
  template <class What>
  Result<Outcome> ask(What what) {
    Command command;
    command.what = std::move(what);
    return ask(admin(), std::move(command));
  }
  TeamId team(const std::string& name);
  UserId user(const std::string& name, TeamId team, Role role);

  // A job of whole devices: replicas x devices, for `ms` (-1: until stopped), then `code`.
  std::shared_ptr<WorkloadSpec> job(const std::string& name, std::int64_t devices, std::int64_t ms,
                                    std::int64_t code = 0);
  WorkloadId submit(TeamId team, std::shared_ptr<WorkloadSpec> spec);

  // Rounds until nothing changes, then time moves on by `by`, then rounds again.
  void settle();
  void pass(Duration by);
  void crash();

  // Live or ended.
  Workload workload(WorkloadId id);

 private:
  void boot();

  FakeFaults faults_;
  VirtualClock clock_;
  SeededIds ids_{7};
  FakeWorld world_;
  std::shared_ptr<MemoryDisk> disk_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<FaultyStore> faulty_;
  std::unique_ptr<FakeEngine> engine_;
  std::unique_ptr<Controller> controller_;
  std::shared_ptr<const View> view_;
  std::string admin_token_;
};

}  // namespace heddle
