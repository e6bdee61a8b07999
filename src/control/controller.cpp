#include "control/controller.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include "control/rounds.h"

namespace heddle {

struct Controller::Impl {
  Impl(Store& store, std::vector<SiteEngine> engines, Clock& clock_, IdSource& ids,
       ControllerOptions options_)
      : clock{clock_}, options{options_}, rounds{store,
                                                 std::move(engines),
                                                 clock_,
                                                 ids,
                                                 options_,
                                                 [this](std::shared_ptr<const View> next) { publish(std::move(next)); }} {}

  void publish(std::shared_ptr<const View> next) {
    {
      const std::lock_guard lock{mutex};
      next.swap(view);  // the old one is let go of outside the lock
      mark = rounds.mark();
    }
    changed();
  }

  Clock& clock;
  const ControllerOptions options;

  // The writer's thread only.
  Rounds rounds;

  // Guarded by `mutex`.
  mutable std::mutex mutex;
  std::deque<Asked> queue;
  std::shared_ptr<const View> view;
  ClockMark mark;
  bool deposed = false;

  // Set before the first step.
  std::function<void()> wake = [] {};
  std::function<void()> changed = [] {};
};

Controller::Controller(Store& store, std::vector<SiteEngine> engines, Clock& clock, IdSource& ids,
                       ControllerOptions options)
    : impl_{std::make_unique<Impl>(store, std::move(engines), clock, ids, std::move(options))} {}

Controller::~Controller() = default;

Result<std::string> Controller::open() { return impl_->rounds.open(impl_->wake); }

void Controller::set_wake(std::function<void()> wake) { impl_->wake = std::move(wake); }

void Controller::on_change(std::function<void()> changed) { impl_->changed = std::move(changed); }

void Controller::submit(Command command, Completion done) {
  {
    const std::lock_guard lock{impl_->mutex};
    if (impl_->queue.size() < impl_->options.commands_queued_max) {
      impl_->queue.push_back({std::move(command), std::move(done)});
      done = nullptr;
    }
  }
  if (done)
    return done(Error{ErrorCode::kRateLimited,
                      "Too many requests wait already.",
                      {},
                      {},
                      "Try again in a moment."});
  impl_->wake();
}

bool Controller::step() {
  std::vector<Asked> commands;
  {
    const std::lock_guard lock{impl_->mutex};
    while (!impl_->queue.empty() && commands.size() < impl_->options.commands_per_commit) {
      commands.push_back(std::move(impl_->queue.front()));
      impl_->queue.pop_front();
    }
  }
  impl_->rounds.step(std::move(commands));
  const std::lock_guard lock{impl_->mutex};
  impl_->mark = impl_->rounds.mark();
  impl_->deposed = impl_->rounds.deposed();
  return !impl_->queue.empty();
}

Instant Controller::due() const { return impl_->rounds.due(); }

std::shared_ptr<const View> Controller::view() const {
  const std::lock_guard lock{impl_->mutex};
  return impl_->view;
}

Instant Controller::now() const {
  const ClockReading reading = impl_->clock.read();
  const std::lock_guard lock{impl_->mutex};
  const ClockMark& mark = impl_->mark;
  return mark.now + Duration{std::max<std::int64_t>(0, reading.boot_ms - mark.boot_ms)};
}

bool Controller::deposed() const {
  const std::lock_guard lock{impl_->mutex};
  return impl_->deposed;
}

}  // namespace heddle
