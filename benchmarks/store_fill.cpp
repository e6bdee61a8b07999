#include "store_fill.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace heddle::bench {
namespace {

constexpr std::int64_t kPerBatch = 2000;
constexpr std::int64_t kStart = 1'764'530'000'000;

void put_tenants(Draft& draft, std::uint64_t& last_id, std::int64_t slot) {
  if (draft.state().teams().empty()) {
    for (int n = 1; n <= 50; ++n) {
      Team team;
      team.id = {++last_id};
      team.name = "team-" + std::to_string(n);
      team.slot = ++slot;
      draft.put(team);
    }
  }
  if (draft.state().pools().empty()) {
    Site site;
    site.id = {++last_id};
    site.name = "bench";
    site.engine = "fake";
    draft.put(site);
    Pool pool;
    pool.id = {++last_id};
    pool.site = site.id;
    pool.name = "bench";
    draft.put(pool);
  }
}

class Filler {
 public:
  explicit Filler(Store& store) : store_{store} {
    auto loaded = store.open();
    if (!loaded) give_up(loaded.error());
    epoch_ = loaded->epoch;
    last_id_ = loaded->last_id;
    clock_ = loaded->clock.value_or(ClockMark{.now = {kStart}, .boot_ms = 0, .boot_id = "bench"});
    draft_ = std::make_unique<Draft>(loaded->state);
    put_tenants(*draft_, last_id_, loaded->last_team_slot);
    for (const auto& [id, team] : draft_->state().teams()) teams_.push_back(id);
    pool_ = draft_->state().pools().begin()->key;
    commit();
  }

  void add(const char* what, std::int64_t count, bool ended) {
    for (std::int64_t n = 0; n < count;) {
      for (const std::int64_t end = std::min(count, n + kPerBatch); n < end; ++n) {
        const auto pick = static_cast<std::uint64_t>(n) * 0x9e3779b97f4a7c15ULL >> 20;
        const auto state = !ended           ? WorkloadState::kWaiting
                           : pick % 20 == 0 ? WorkloadState::kFailed
                                            : WorkloadState::kSucceeded;
        draft_->put(a_job({++last_id_}, teams_[pick % teams_.size()], pool_, state));
      }
      commit();
      if (n % 100'000 == 0)
        std::fprintf(stderr, "%lld %s workloads\n", static_cast<long long>(n), what);
    }
  }

  const State& state() const { return draft_->state(); }

 private:
  [[noreturn]] static void give_up(const Error& error) {
    std::fprintf(stderr, "%s\n", error.message.c_str());
    std::exit(1);
  }
  void commit() {
    Batch batch;
    batch.epoch = epoch_;
    batch.batch_id = ++batch_id_;
    batch.clock = clock_;
    batch.changes = draft_->take_changes();
    const auto done = store_.commit(batch);
    if (!done) give_up(done.error());
  }

  Store& store_;
  std::unique_ptr<Draft> draft_;
  std::vector<TeamId> teams_;
  PoolId pool_;
  std::int64_t epoch_ = 0;
  std::int64_t batch_id_ = 0;
  std::uint64_t last_id_ = 0;
  ClockMark clock_;
};

}  // namespace

Workload a_job(WorkloadId id, TeamId team, PoolId pool, WorkloadState state) {
  auto spec = std::make_shared<WorkloadSpec>();
  // Names are unique among live work only.
  spec->name = has_ended(state) ? "train-" + std::to_string(id.value % 7)
                                : "train-" + std::to_string(id.value);
  spec->shape = {{1, 125, 0, 0, 0}, 1, {pool}};
  spec->command = {"/usr/bin/python3", "train.py", "--epochs", "3"};
  spec->env = {{"SEED", std::to_string(id.value)}};
  spec->time_limit = Duration::minutes(10);
  Workload w;
  w.id = id;
  w.team = team;
  w.owner = {1};
  w.spec = std::move(spec);
  w.state = state;
  w.pool = pool;
  w.submitted_at = w.waiting_since = {kStart + static_cast<std::int64_t>(id.value % 1'000'000)};
  if (has_ended(state)) {
    w.attempt = 1;
    w.starting_since = w.running_since = w.submitted_at + Duration::seconds(1);
    w.ended_at = w.submitted_at + Duration::minutes(2);
    w.end = {EndCause::kExited, state == WorkloadState::kFailed ? 1 : 0, 0, ""};
    w.usage = {15'000'000, 15'100'000, 110'000, 1 << 28, 900, 100, 120'000, 10};
    w.version = 5;
  }
  return w;
}

State fill(Store& store, const FillOptions& options) {
  Filler filler{store};
  filler.add("ended", options.ended, true);
  filler.add("live", options.live, false);
  return filler.state();
}

}  // namespace heddle::bench
