#include "control/controller.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/check.h"
#include "control/committer.h"
#include "control/inventory.h"
#include "control/starts.h"
#include "control/time_keeper.h"

namespace heddle {

struct Controller::Impl {
  using Answer = std::pair<Completion, Result<Outcome>>;
  // Books on their way into the store, with what happens once they are there.
  struct Pending {
    Books books;
    std::vector<Answer> answers;
    std::vector<Report> reports;  // to be taken again if the books are refused
    std::vector<WorkloadId> starts;
  };

  Impl(Store& store_, std::vector<SiteEngine> engines_, Clock& clock_, IdSource& ids_,
       ControllerOptions options_)
      : store{store_},
        engines{std::move(engines_)},
        clock{clock_},
        ids{ids_},
        options{std::move(options_)},
        committer{store_} {}

  Result<std::string> open();
  bool step();
  void take_everything(Pending& pending, std::vector<std::pair<Command, Completion>> commands);
  void take_command(Pending& pending, Command command, Completion done);
  std::optional<Result<Outcome>> repetition(const Books& books, const Command& command);
  void take_due(Books& books);
  void plan_round();
  void commit(Pending pending);
  void finish(Pending pending, CommitResult result);
  void succeeded(Pending pending);
  void send_starts(const std::vector<WorkloadId>& workloads);
  void publish();
  Engine* engine_of(PoolId pool) const;
  Books new_books() { return Books{state, time->now(), epoch, sequences, ids}; }

  // Constant after open().
  Store& store;
  std::vector<SiteEngine> engines;
  std::vector<SiteId> sites;  // of the engines, same order
  Clock& clock;
  IdSource& ids;
  const ControllerOptions options;
  std::int64_t epoch = 0;

  // The writer's thread only.
  Committer committer;
  std::optional<TimeKeeper> time;
  State state;
  Sequences sequences;
  CowMap<ReasonKey, Reason> reasons;
  std::vector<Report> untaken_reports;
  std::vector<AllocationId> told;  // to be marked as sent with the next commit
  std::optional<Pending> in_doubt;
  bool plan_wanted = true;
  bool planned = false;
  std::string trouble;
  Instant retry_at, trim_at, deadline_at, flush_at;

  // Guarded by `mutex`.
  mutable std::mutex mutex;
  std::deque<std::pair<Command, Completion>> queue;
  std::shared_ptr<const View> view;
  ClockMark time_mark;
  bool is_deposed = false;

  // Set before open().
  std::function<void()> wake = [] {};
  std::function<void()> changed = [] {};
};

namespace {

Error store_away(const std::string& why) {
  return {ErrorCode::kUnavailable,
          "The store cannot be written now. " + why,
          {},
          {},
          "Running work is not touched. Try again soon."};
}

}  // namespace

Result<std::string> Controller::Impl::open() {
  auto loaded = store.open();
  if (!loaded) return loaded.error();
  epoch = loaded->epoch;
  committer.begin(epoch);
  time.emplace(loaded->clock, clock.read(), options.confirm_wall_clock);
  state = std::move(loaded->state);
  sequences = {loaded->last_feed_seq, loaded->last_audit_seq, loaded->last_team_slot};
  ids.start_after(loaded->last_id);

  Pending pending{new_books(), {}, {}, {}};
  std::string admin_token;
  if (state.users().empty()) {
    User admin{pending.books.new_id<UserTag>(), "admin", true, time->now(), time->now(), 1};
    const UserId id = admin.id;
    pending.books.draft.put(std::move(admin));
    admin_token = make_token(pending.books, id, "first", options.admin_token_life);
    pending.books.record({}, "server.first_start", SubjectKind::kServer, 0, {}, "done", {});
  } else if (options.new_admin_token) {
    const UserId admin = state.users().begin()->key;
    admin_token = make_token(pending.books, admin, "made at start", options.admin_token_life);
    pending.books.record({}, "token.create", SubjectKind::kUser, admin.value, {}, "done", {});
  }
  for (const SiteEngine& site : engines)
    sites.push_back(take_site(pending.books, site.site_name, *site.engine));
  pending.books.record({}, "server.start", SubjectKind::kServer, static_cast<std::uint64_t>(epoch),
                       {}, "done", {});
  commit(std::move(pending));
  if (in_doubt || !trouble.empty() || is_deposed) return committer.error();

  for (std::size_t i = 0; i < engines.size(); ++i) {
    std::vector<Allocation> live;
    for (const auto& [id, a] : state.allocations())
      if (engine_of(a.pool) == engines[i].engine) live.push_back(a);
    engines[i].engine->set_wake(wake);
    if (auto ok = engines[i].engine->connect(epoch, live); !ok) return ok.error();
  }
  // What was told before the end is told again; engines take each order once.
  std::vector<WorkloadId> starting;
  for (const auto& [id, workload] : state.workloads())
    if (workload.state == WorkloadState::kStarting) starting.push_back(id);
  send_starts(starting);
  for (const auto& [id, a] : state.allocations()) {
    if (!a.stop_requested || a.ended_at.is_set()) continue;
    const Workload* workload = state.workloads().find(a.workload);
    if (Engine* engine = engine_of(a.pool))
      engine->stop(id, workload != nullptr ? workload->spec->grace : Duration{});
  }
  trim_at = time->now() + options.trim_every;
  return admin_token;
}

Engine* Controller::Impl::engine_of(PoolId pool) const {
  const Pool* found = state.pools().find(pool);
  if (found == nullptr) return nullptr;
  for (std::size_t i = 0; i < sites.size(); ++i)
    if (sites[i] == found->site) return engines[i].engine;
  return nullptr;
}

bool Controller::Impl::step() {
  const Instant now = time->update(clock.read());
  std::vector<std::pair<Command, Completion>> commands;
  bool more = false;
  {
    const std::lock_guard lock{mutex};
    time_mark = time->mark();
    while (!queue.empty() && commands.size() < options.commands_per_commit) {
      commands.push_back(std::move(queue.front()));
      queue.pop_front();
    }
    more = !queue.empty();
  }
  if (in_doubt) {
    const CommitResult result = committer.resolve();
    Pending pending = std::move(*in_doubt);
    in_doubt.reset();
    finish(std::move(pending), result);
  }
  if (in_doubt || is_deposed) {
    for (auto& [command, done] : commands)
      done(store_away(is_deposed ? "Another server took over." : trouble));
    retry_at = now + options.retry_store_every;
    return false;
  }
  Pending pending{new_books(), {}, {}, {}};
  take_everything(pending, std::move(commands));
  if (pending.books.empty()) {
    for (auto& [done, answer] : pending.answers) done(std::move(answer));
    for (const Effect& effect : pending.books.effects)
      if (const auto* forget = std::get_if<ForgetEffect>(&effect))
        for (const SiteEngine& site : engines) site.engine->forget(forget->allocation);
  } else {
    commit(std::move(pending));
  }
  // One plan for many commits: while commands stream in, planning waits for a full batch at most.
  // A store in trouble is tried again with whatever there is to write, a plan included.
  const bool may_write = trouble.empty() || now >= retry_at;
  if (plan_wanted && may_write && !in_doubt && !is_deposed) plan_round();
  if (now >= trim_at && trouble.empty() && !in_doubt && !is_deposed) {
    (void)store.trim(now, options.retention, 500).has_value();
    trim_at = now + options.trim_every;
  }
  return more;
}

void Controller::Impl::take_everything(Pending& pending,
                                       std::vector<std::pair<Command, Completion>> commands) {
  Books& books = pending.books;
  pending.reports = std::exchange(untaken_reports, {});
  for (std::size_t i = 0; i < engines.size(); ++i) {
    for (Report& report : engines[i].engine->take_reports()) {
      if (auto* nodes = std::get_if<ReportNodes>(&report)) {
        take_nodes(books, sites[i], nodes->nodes);
      } else {
        pending.reports.push_back(std::move(report));
      }
    }
  }
  for (const Report& report : pending.reports) take_report(books, report, options.lifecycle);
  take_due(books);
  for (auto& [command, done] : commands) take_command(pending, std::move(command), std::move(done));
  // After trouble with the store something must be written to learn that it is over.
  if (!trouble.empty() && books.now >= retry_at) books.touch();
  // 'Sent' is no news: it goes along with the next commit, or on its own after a while.
  if (!books.empty() || (flush_at.is_set() && flush_at <= books.now))
    for (const AllocationId id : told) mark_sent(books, id, options.lifecycle);
}

void Controller::Impl::take_due(Books& books) {
  std::vector<AllocationId> due;
  for (const auto& [key, none] : books.state().deadlines()) {
    if (key.first > books.now) break;
    due.push_back(key.second);
  }
  std::vector<WorkloadId> again;
  for (const AllocationId id : due) {
    const Allocation* a = books.state().allocations().find(id);
    const WorkloadId workload = a != nullptr ? a->workload : WorkloadId{};
    if (take_deadline(books, id, options.lifecycle)) again.push_back(workload);
  }
  send_starts(again);  // repeated orders are harmless, so they need not wait for the commit
}

// The same create again gives the same answer; the same key for something else is refused.
std::optional<Result<Outcome>> Controller::Impl::repetition(const Books& books,
                                                            const Command& command) {
  if (!command.idempotency) return std::nullopt;
  const IdempotencyKey& key = *command.idempotency;
  std::optional<IdempotencyRecord> known;
  for (const IdempotencyRecord& record : books.idempotency)
    if (record.user == command.actor.user && record.route == key.route && record.key == key.key)
      known = record;
  if (!known) {
    auto stored = store.idempotency(command.actor.user, key.route, key.key);
    if (!stored) return Result<Outcome>{stored.error()};
    known = *stored;
  }
  if (!known) return std::nullopt;
  if (known->body_sha256_hex != key.body_sha256_hex)
    return Result<Outcome>{Error{ErrorCode::kIdempotencyConflict,
                                 "This Idempotency-Key was used for another request.",
                                 {},
                                 {},
                                 "Use a new key for a new request."}};
  return Result<Outcome>{Outcome{known->subject, true, {}}};
}

void Controller::Impl::take_command(Pending& pending, Command command, Completion done) {
  auto known = repetition(pending.books, command);
  pending.answers.emplace_back(
      std::move(done), known ? std::move(*known) : apply(pending.books, command, options.commands));
}

void Controller::Impl::plan_round() {
  plan_wanted = false;
  Plan plan = heddle::plan(state, options.schedule, time->now());
  reasons = std::move(plan.reasons);
  planned = true;
  if (plan.step_budget_hit) plan_wanted = !plan.starts.empty();
  if (plan.starts.empty()) return publish();
  Pending pending{new_books(), {}, {}, {}};
  apply_plan(pending.books, plan);
  for (const StartAction& start : plan.starts) pending.starts.push_back(start.workload);
  commit(std::move(pending));
}

void Controller::Impl::commit(Pending pending) {
  const CommitResult result = committer.commit(pending.books, time->mark());
  finish(std::move(pending), result);
}

void Controller::Impl::finish(Pending pending, CommitResult result) {
  switch (result) {
    case CommitResult::kDone:
      return succeeded(std::move(pending));
    case CommitResult::kUnknown:
      trouble = committer.error().message;
      in_doubt.emplace(std::move(pending));
      break;
    case CommitResult::kDeposed:
    case CommitResult::kRefused: {
      trouble = committer.error().message;
      if (result == CommitResult::kDeposed) {
        const std::lock_guard lock{mutex};
        is_deposed = true;
      }
      const bool full = committer.error().code == ErrorCode::kStorageFull;
      for (auto& [done, answer] : pending.answers)
        done(full ? committer.error() : store_away(committer.error().message));
      untaken_reports.insert(untaken_reports.begin(), pending.reports.begin(),
                             pending.reports.end());
      plan_wanted = true;
      break;
    }
  }
  retry_at = time->now() + options.retry_store_every;
  publish();
}

void Controller::Impl::succeeded(Pending pending) {
  trouble.clear();
  retry_at = {};
  state = pending.books.state();
  sequences = pending.books.sequences();
  plan_wanted = plan_wanted || pending.starts.empty();
  std::erase_if(told, [&](AllocationId id) {
    const Allocation* a = state.allocations().find(id);
    return a == nullptr || a->state != AllocationState::kPlanned;
  });
  const auto& deadlines = state.deadlines();
  deadline_at = deadlines.empty() ? Instant{} : deadlines.begin()->key.first;
  if (told.empty()) flush_at = {};
  publish();
  for (const Effect& effect : pending.books.effects) {
    if (const auto* stop = std::get_if<StopEffect>(&effect)) {
      if (Engine* engine = engine_of(stop->pool)) engine->stop(stop->allocation, stop->grace);
    } else if (const auto* forget = std::get_if<ForgetEffect>(&effect)) {
      for (const SiteEngine& site : engines) site.engine->forget(forget->allocation);
    }
  }
  send_starts(pending.starts);
  for (auto& [done, answer] : pending.answers) done(std::move(answer));
}

void Controller::Impl::send_starts(const std::vector<WorkloadId>& workloads) {
  std::map<Engine*, std::vector<StartOrder>> orders;
  for (const WorkloadId id : workloads) {
    const Workload* workload = state.workloads().find(id);
    Engine* engine = workload != nullptr ? engine_of(workload->pool) : nullptr;
    if (engine == nullptr) continue;
    auto made = start_orders(state, store, id);
    if (!made) continue;  // the store is away: the deadline of the order brings us back
    for (StartOrder& order : *made) {
      told.push_back(order.allocation);
      orders[engine].push_back(std::move(order));
    }
  }
  for (auto& [engine, batch] : orders) engine->start(std::move(batch));
  if (!told.empty() && !flush_at.is_set()) flush_at = time->now() + Duration::seconds(1);
}

void Controller::Impl::publish() {
  auto fresh = std::make_shared<View>();
  fresh->state = state;
  fresh->reasons = reasons;
  fresh->epoch = epoch;
  fresh->last_feed_seq = sequences.feed;
  fresh->as_of = time->now();
  fresh->planned = planned;
  fresh->stale = !trouble.empty();
  fresh->trouble = trouble;
  fresh->expiry_paused = !time->wall_trusted();
  std::shared_ptr<const View> next = std::move(fresh);
  {
    const std::lock_guard lock{mutex};
    next.swap(view);  // the old one is let go of outside the lock
    time_mark = time->mark();
  }
  changed();
}

Controller::Controller(Store& store, std::vector<SiteEngine> engines, Clock& clock, IdSource& ids,
                       ControllerOptions options)
    : impl_{std::make_unique<Impl>(store, std::move(engines), clock, ids, std::move(options))} {}

Controller::~Controller() = default;

Result<std::string> Controller::open() { return impl_->open(); }

void Controller::set_wake(std::function<void()> wake) { impl_->wake = std::move(wake); }

void Controller::on_change(std::function<void()> changed) { impl_->changed = std::move(changed); }

void Controller::submit(Command command, Completion done) {
  {
    const std::lock_guard lock{impl_->mutex};
    if (impl_->queue.size() < impl_->options.commands_queued_max) {
      impl_->queue.emplace_back(std::move(command), std::move(done));
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

bool Controller::step() { return impl_->step(); }

Instant Controller::due() const {
  Instant due = impl_->trim_at;
  for (const Instant at : {impl_->retry_at, impl_->deadline_at, impl_->flush_at})
    if (at.is_set() && at < due) due = at;
  return due;
}

std::shared_ptr<const View> Controller::view() const {
  const std::lock_guard lock{impl_->mutex};
  return impl_->view;
}

Instant Controller::now() const {
  const ClockReading reading = impl_->clock.read();
  const std::lock_guard lock{impl_->mutex};
  const ClockMark& mark = impl_->time_mark;
  return mark.now + Duration{std::max<std::int64_t>(0, reading.boot_ms - mark.boot_ms)};
}

bool Controller::deposed() const {
  const std::lock_guard lock{impl_->mutex};
  return impl_->is_deposed;
}

}  // namespace heddle
