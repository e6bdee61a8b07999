#include "engine/local/testing/local_subject.h"

#include <sys/stat.h>
#include <time.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace heddle::local {

struct Machine::Waiting {
  std::mutex mutex;
  std::condition_variable woken;
  bool fresh = false;
  std::chrono::steady_clock::time_point deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds{30};
};

Machine::Machine() : waiting_{std::make_unique<Waiting>()} {
  chmod(scratch_.path().c_str(), 0711);
  options.state_folder = scratch_.path();
  options.runtime_folder = scratch_.path() + "/runtime";
  options.shim_path = HEDDLE_SHIM_PATH;
  options.simulate = "1x8:H100-80GB";
  options.allow_unisolated = true;  // the tests also run where nothing can be isolated
  options.now = [] {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return Instant{std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000};
  };
}

Machine::~Machine() = default;

void Machine::wake() {
  {
    const std::lock_guard lock{waiting_->mutex};
    waiting_->fresh = true;
  }
  waiting_->woken.notify_all();
}

bool Machine::pass_time() {
  std::unique_lock lock{waiting_->mutex};
  waiting_->woken.wait_for(lock, std::chrono::milliseconds{20}, [this] { return waiting_->fresh; });
  waiting_->fresh = false;
  return std::chrono::steady_clock::now() < waiting_->deadline;
}

EngineSubject local_subject(std::shared_ptr<Machine> machine) {
  EngineSubject subject;
  subject.attach = [machine] {
    auto engine = make_local_engine(machine->options);
    engine->set_wake([raw = machine.get()] { raw->wake(); });
    return engine;
  };
  subject.pass_time = [machine] { return machine->pass_time(); };
  subject.command = [](std::int64_t run_ms, int exit_code) -> std::vector<std::string> {
    if (run_ms < 0) return {"/bin/sleep", "1000"};
    return {"/bin/sh", "-c",
            "sleep " + std::to_string(run_ms / 1000) + "." +
                std::to_string(1000 + run_ms % 1000).substr(1) + "; exit " +
                std::to_string(exit_code)};
  };
  return subject;
}

}  // namespace heddle::local
