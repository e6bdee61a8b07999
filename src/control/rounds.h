// Rounds: what the one writer does, round after round; the state and its books are its alone.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/books.h"
#include "control/committer.h"
#include "control/options.h"
#include "control/ports/clock.h"
#include "control/time_keeper.h"
#include "control/view.h"

namespace heddle {

// One thread. Commands and reports are applied and committed, then answered; then a plan over
// everything new is made, committed, and only then told to the engines.
class Rounds {
 public:
  // `publish` is called with each new view, on the calling thread.
  Rounds(Store& store, std::vector<SiteEngine> engines, Clock& clock, IdSource& ids,
         ControllerOptions options, std::function<void(std::shared_ptr<const View>)> publish);

  // As Controller::open().
  Result<std::string> open(const std::function<void()>& wake);

  // One round with these commands; each is answered in it, or once its outcome is known.
  void step(std::vector<Asked> commands);

  Instant due() const;
  ClockMark mark() const { return time_->mark(); }
  bool deposed() const { return deposed_; }

 private:
  struct SiteReport {
    std::size_t site = 0;  // index of its engine
    Report report;
  };
  // Books on their way into the store, with what happens once they are there.
  struct Pending {
    Books books;
    std::vector<std::pair<Completion, Result<Outcome>>> answers;
    std::vector<SiteReport> reports;  // to be taken again if the books are refused
    std::vector<WorkloadId> starts;
  };

  void first_rows(Books& books, std::string& admin_token);
  Result<Done> connect(const std::function<void()>& wake);
  void take_everything(Pending& pending, std::vector<Asked> commands);
  void take_reports(Pending& pending);
  void take_command(Pending& pending, Asked asked);
  std::optional<Result<Outcome>> repetition(const Books& books, const Command& command);
  void take_due(Books& books);
  void plan_round();
  void commit(Pending pending);
  void finish(Pending pending, CommitResult result);
  void succeeded(Pending pending);
  void refused(Pending pending);
  void tell(const std::vector<Effect>& effects);
  void send_starts(const std::vector<WorkloadId>& workloads);
  void publish();
  bool may_write() const;
  Engine* engine_of(PoolId pool) const;
  Books new_books() { return Books{state_, time_->now(), epoch_, sequences_, ids_}; }

  Store& store_;
  const std::vector<SiteEngine> engines_;
  Clock& clock_;
  IdSource& ids_;
  const ControllerOptions options_;
  const std::function<void(std::shared_ptr<const View>)> publish_;

  // Set by open().
  std::int64_t epoch_ = 0;
  std::vector<SiteId> sites_;  // of the engines, same order
  std::optional<TimeKeeper> time_;

  Committer committer_;
  State state_;
  Sequences sequences_;
  CowMap<ReasonKey, Reason> reasons_;
  std::vector<SiteReport> untaken_reports_;
  std::vector<AllocationId> told_;  // to be marked as sent with the next commit
  std::optional<Pending> in_doubt_;
  bool deposed_ = false;
  bool plan_wanted_ = true;
  bool planned_ = false;
  std::string trouble_;  // with the store; empty when all is well
  Instant retry_at_, trim_at_, flush_at_;
  Instant doubt_shown_;  // in the view: since when the wall clock is not trusted
};

}  // namespace heddle
