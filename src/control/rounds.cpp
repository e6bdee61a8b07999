#include "control/rounds.h"

#include <algorithm>
#include <map>
#include <utility>

#include "control/inventory.h"
#include "control/starts.h"

namespace heddle {
namespace {

constexpr std::int64_t kTrimRows = 500;

Error store_away(const std::string& why) {
  return {ErrorCode::kUnavailable,
          "The store cannot be written now. " + why,
          {},
          {},
          "Running work is not touched. Try again soon."};
}

}  // namespace

Rounds::Rounds(Store& store, std::vector<SiteEngine> engines, Clock& clock, IdSource& ids,
               ControllerOptions options, std::function<void(std::shared_ptr<const View>)> publish)
    : store_{store},
      engines_{std::move(engines)},
      clock_{clock},
      ids_{ids},
      options_{std::move(options)},
      publish_{std::move(publish)},
      committer_{store} {}

Result<std::string> Rounds::open(const std::function<void()>& wake) {
  auto loaded = store_.open();
  if (!loaded) return loaded.error();
  epoch_ = loaded->epoch;
  committer_.begin(epoch_);
  time_.emplace(loaded->clock, clock_.read(), options_.confirm_wall_clock);
  state_ = std::move(loaded->state);
  sequences_ = {loaded->last_feed_seq, loaded->last_audit_seq, loaded->last_team_slot};
  ids_.start_after(loaded->last_id);

  Pending pending{new_books(), {}, {}, {}};
  std::string admin_token;
  first_rows(pending.books, admin_token);
  commit(std::move(pending));
  if (in_doubt_ || !trouble_.empty() || deposed_) return committer_.error();
  if (auto ok = connect(wake); !ok) return ok.error();
  trim_at_ = time_->now() + options_.trim_every;
  return admin_token;
}

void Rounds::first_rows(Books& books, std::string& admin_token) {
  const Duration lives = options_.admin_token_life;
  if (state_.users().empty()) {
    User admin{books.new_id<UserTag>(), "admin", true, books.now, books.now, 1};
    const UserId id = admin.id;
    books.draft.put(std::move(admin));
    admin_token = make_token(books, id, "first", lives);
    books.record({}, "server.first_start", SubjectKind::kServer, 0, {}, "done", {});
  } else if (options_.new_admin_token) {
    const UserId admin = state_.users().begin()->key;
    admin_token = make_token(books, admin, "made at start", lives);
    books.record({}, "token.create", SubjectKind::kUser, admin.value, {}, "done", {});
  }
  for (const SiteEngine& site : engines_)
    sites_.push_back(take_site(books, site.site_name, *site.engine));
  // An operator moved time; how long work may still run was not moved.
  if (time_->jumped().ms > 0) put_off_deadlines(books, time_->jumped());
  books.record({}, "server.start", SubjectKind::kServer, static_cast<std::uint64_t>(epoch_), {},
               "done", {});
}

Result<Done> Rounds::connect(const std::function<void()>& wake) {
  for (const SiteEngine& site : engines_) {
    std::vector<Allocation> live;
    for (const auto& [id, a] : state_.allocations())
      if (engine_of(a.pool) == site.engine) live.push_back(a);
    site.engine->set_wake(wake);
    if (auto ok = site.engine->connect(epoch_, live); !ok) return ok;
  }
  // What was told before the end is told again; engines take each order once.
  std::vector<WorkloadId> starting;
  for (const auto& [id, workload] : state_.workloads())
    if (workload.state == WorkloadState::kStarting) starting.push_back(id);
  send_starts(starting);
  for (const auto& [id, a] : state_.allocations()) {
    if (!a.stop_requested || a.ended_at.is_set()) continue;
    const Workload* workload = state_.workloads().find(a.workload);
    if (Engine* engine = engine_of(a.pool))
      engine->stop(id, workload != nullptr ? workload->spec->grace : Duration{});
  }
  return Done{};
}

Engine* Rounds::engine_of(PoolId pool) const {
  const Pool* found = state_.pools().find(pool);
  if (found == nullptr) return nullptr;
  for (std::size_t i = 0; i < sites_.size(); ++i)
    if (sites_[i] == found->site) return engines_[i].engine;
  return nullptr;
}

bool Rounds::may_write() const { return !in_doubt_ && !deposed_; }

void Rounds::step(std::vector<Asked> commands) {
  const Instant now = time_->update(clock_.read());
  if (time_->doubted_since() != doubt_shown_) publish();
  if (in_doubt_) {
    const CommitResult result = committer_.resolve();
    Pending pending = std::move(*in_doubt_);
    in_doubt_.reset();
    finish(std::move(pending), result);
  }
  if (!may_write()) {
    for (Asked& asked : commands)
      asked.done(store_away(deposed_ ? "Another server took over." : trouble_));
    retry_at_ = now + options_.retry_store_every;
    return;
  }
  Pending pending{new_books(), {}, {}, {}};
  take_everything(pending, std::move(commands));
  if (pending.books.empty()) {
    tell(pending.books.effects);
    for (auto& [done, answer] : pending.answers) done(std::move(answer));
  } else {
    commit(std::move(pending));
  }
  // A store in trouble is tried again with whatever there is to write, a plan included.
  const bool try_now = trouble_.empty() || now >= retry_at_;
  if (plan_wanted_ && try_now && may_write()) plan_round();
  if (now >= trim_at_ && trouble_.empty() && may_write()) {
    const auto trimmed = store_.trim(now, options_.retention, kTrimRows);
    if (trimmed)
      for (const WorkloadId id : trimmed->workloads)
        for (const SiteEngine& site : engines_) site.engine->discard(id);
    const bool more = trimmed && trimmed->rows == kTrimRows;
    trim_at_ = now + (more ? Duration::millis(200) : options_.trim_every);
  }
}

void Rounds::take_everything(Pending& pending, std::vector<Asked> commands) {
  Books& books = pending.books;
  take_reports(pending);
  take_due(books);
  for (Asked& asked : commands) take_command(pending, std::move(asked));
  // After trouble with the store something must be written to learn that it is over.
  if (!trouble_.empty() && books.now >= retry_at_) books.touch();
  // 'Sent' is no news: it goes along with the next commit, or on its own after a while.
  if (!books.empty() || (flush_at_.is_set() && flush_at_ <= books.now))
    for (const AllocationId id : told_) mark_sent(books, id, options_.lifecycle);
}

void Rounds::take_reports(Pending& pending) {
  pending.reports = std::exchange(untaken_reports_, {});
  for (std::size_t site = 0; site < engines_.size(); ++site)
    for (Report& report : engines_[site].engine->take_reports())
      pending.reports.push_back({site, std::move(report)});
  for (const SiteReport& r : pending.reports) {
    if (const auto* nodes = std::get_if<ReportNodes>(&r.report))
      take_nodes(pending.books, sites_[r.site], nodes->nodes);
    else
      take_report(pending.books, r.report, options_.lifecycle);
  }
}

void Rounds::take_due(Books& books) {
  std::vector<AllocationId> due;
  for (const auto& [key, none] : books.state().deadlines()) {
    if (key.first > books.now) break;
    due.push_back(key.second);
  }
  std::vector<WorkloadId> again;
  for (const AllocationId id : due) {
    const Allocation* a = books.state().allocations().find(id);
    const WorkloadId workload = a != nullptr ? a->workload : WorkloadId{};
    if (take_deadline(books, id, options_.lifecycle)) again.push_back(workload);
  }
  send_starts(again);  // repeated orders are harmless, so they need not wait for the commit
}

// The same create again gives the same answer; the same key for something else is refused.
std::optional<Result<Outcome>> Rounds::repetition(const Books& books, const Command& command) {
  if (!command.idempotency) return std::nullopt;
  const IdempotencyKey& key = *command.idempotency;
  std::optional<IdempotencyRecord> known;
  for (const IdempotencyRecord& record : books.idempotency)
    if (record.user == command.actor.user && record.route == key.route && record.key == key.key)
      known = record;
  if (!known) {
    auto stored = store_.idempotency(command.actor.user, key.route, key.key);
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

void Rounds::take_command(Pending& pending, Asked asked) {
  auto known = repetition(pending.books, asked.command);
  pending.answers.emplace_back(
      std::move(asked.done),
      known ? std::move(*known) : apply(pending.books, asked.command, options_.commands));
}

void Rounds::plan_round() {
  plan_wanted_ = false;
  Plan plan = heddle::plan(state_, options_.schedule, time_->now());
  reasons_ = std::move(plan.reasons);
  planned_ = true;
  if (plan.starts.empty()) return publish();
  Pending pending{new_books(), {}, {}, {}};
  apply_plan(pending.books, plan);
  for (const StartAction& start : plan.starts) pending.starts.push_back(start.workload);
  const bool looked_at_all = !plan.step_budget_hit;
  commit(std::move(pending));
  plan_wanted_ = plan_wanted_ || !looked_at_all;
}

void Rounds::commit(Pending pending) {
  const CommitResult result = committer_.commit(pending.books, time_->mark());
  finish(std::move(pending), result);
}

void Rounds::finish(Pending pending, CommitResult result) {
  if (result == CommitResult::kDone) return succeeded(std::move(pending));
  trouble_ = committer_.error().message;
  retry_at_ = time_->now() + options_.retry_store_every;
  if (result == CommitResult::kUnknown) {
    in_doubt_.emplace(std::move(pending));
  } else {
    deposed_ = result == CommitResult::kDeposed;
    refused(std::move(pending));
  }
  publish();
}

void Rounds::refused(Pending pending) {
  const Error& error = committer_.error();
  for (auto& [done, answer] : pending.answers)
    done(error.code == ErrorCode::kStorageFull ? error : store_away(error.message));
  untaken_reports_.insert(untaken_reports_.begin(), pending.reports.begin(), pending.reports.end());
  plan_wanted_ = true;
}

void Rounds::succeeded(Pending pending) {
  trouble_.clear();
  retry_at_ = {};
  state_ = pending.books.state();
  sequences_ = pending.books.sequences();
  // A commit that only started things calls for no other plan.
  plan_wanted_ = plan_wanted_ || pending.starts.empty();
  std::erase_if(told_, [&](AllocationId id) {
    const Allocation* a = state_.allocations().find(id);
    return a == nullptr || a->state != AllocationState::kPlanned;
  });
  if (told_.empty()) flush_at_ = {};
  publish();
  tell(pending.books.effects);
  send_starts(pending.starts);
  for (auto& [done, answer] : pending.answers) done(std::move(answer));
}

void Rounds::tell(const std::vector<Effect>& effects) {
  for (const Effect& effect : effects) {
    if (const auto* stop = std::get_if<StopEffect>(&effect)) {
      if (Engine* engine = engine_of(stop->pool)) engine->stop(stop->allocation, stop->grace);
    } else if (const auto* forget = std::get_if<ForgetEffect>(&effect)) {
      for (const SiteEngine& site : engines_) site.engine->forget(forget->allocation);
    }
  }
}

void Rounds::send_starts(const std::vector<WorkloadId>& workloads) {
  std::map<Engine*, std::vector<StartOrder>> orders;
  for (const WorkloadId id : workloads) {
    const Workload* workload = state_.workloads().find(id);
    Engine* engine = workload != nullptr ? engine_of(workload->pool) : nullptr;
    if (engine == nullptr) continue;
    auto made = start_orders(state_, store_, id);
    if (!made) continue;  // the store is away: the deadline of the order brings us back
    for (StartOrder& order : *made) {
      told_.push_back(order.allocation);
      orders[engine].push_back(std::move(order));
    }
  }
  for (auto& [engine, batch] : orders) engine->start(std::move(batch));
  if (!told_.empty() && !flush_at_.is_set()) flush_at_ = time_->now() + Duration::seconds(1);
}

Instant Rounds::due() const {
  const auto& deadlines = state_.deadlines();
  const Instant deadline = deadlines.empty() ? Instant{} : deadlines.begin()->key.first;
  Instant due = trim_at_;
  for (const Instant at : {retry_at_, deadline, flush_at_})
    if (at.is_set() && at < due) due = at;
  return due;
}

void Rounds::publish() {
  auto view = std::make_shared<View>();
  view->state = state_;
  view->reasons = reasons_;
  view->epoch = epoch_;
  view->last_feed_seq = sequences_.feed;
  view->as_of = time_->now();
  view->planned = planned_;
  view->stale = !trouble_.empty();
  view->trouble = trouble_;
  view->clock_doubted_since = doubt_shown_ = time_->doubted_since();
  publish_(std::move(view));
}

}  // namespace heddle
