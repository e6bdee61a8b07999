// Controller: the one writer. Takes commands and reports, keeps the books, plans, tells engines.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/options.h"
#include "control/ports/clock.h"
#include "control/ports/engine.h"
#include "control/ports/id_source.h"
#include "control/ports/store.h"
#include "control/view.h"

namespace heddle {

// The order of one round: commands and reports are applied and committed, then answered; then one
// plan over everything new is made, committed, and only then told to the engines.
//
// Threads: construct, open(), step() and due() on one thread, the writer's. submit(), view() and
// now() from any thread. Completions run on the writer's thread and must return at once.
class Controller {
 public:
  using Completion = heddle::Completion;

  Controller(Store& store, std::vector<SiteEngine> engines, Clock& clock, IdSource& ids,
             ControllerOptions options);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Reads the store, makes the first administrator when there is no user yet (the text of its token
  // comes back, empty otherwise), connects the engines.
  Result<std::string> open();

  // Called once for wake-ups: something is there for step(). Before open().
  void set_wake(std::function<void()> wake);

  // Queues a command. `done` is called once it is committed or refused; unavailable when the queue
  // is full, the store fails, or another writer took over.
  void submit(Command command, Completion done);

  // One round. True if there may be more to do right away.
  bool step();

  // When step() is due even without a wake-up: the next deadline.
  Instant due() const;

  // The newest committed state; never null after open().
  std::shared_ptr<const View> view() const;

  // Calls `changed` after each commit that made a new View, from the writer's thread. Before the
  // first step().
  void on_change(std::function<void()> changed);

  // Heddle's own time, which never runs backwards.
  Instant now() const;

  // True once another writer has taken over: the process should end.
  bool deposed() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heddle
