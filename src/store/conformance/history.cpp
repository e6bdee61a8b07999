#include "store/conformance/history.h"

#include <utility>

namespace heddle::conformance {
namespace {

// A random entry's key; the map is not empty.
template <class Map>
auto any_key(const Map& map, Rng& rng) {
  auto at = map.begin();
  for (auto n = rng.between(0, static_cast<std::int64_t>(map.size()) - 1); n > 0; --n) ++at;
  return at->key;
}

}  // namespace

void History::put_a_tenant() {
  const TeamId team{next_id()};
  draft_.put(make.team(team, ++last_slot));
  const UserId user{next_id()};
  draft_.put(make.user(user));
  draft_.put(make.member({team, user}));
  draft_.put(make.token({next_id()}, user));
  // Rows that are there already change too.
  const TeamId known = any_key(state().teams(), make.rng);
  draft_.put(make.team(known, state().teams().find(known)->slot));
}

void History::put_the_estate() {
  const SiteId site{next_id()};
  draft_.put(make.site(site));
  const PoolId pool{next_id()};
  draft_.put(make.pool(pool, site));
  const NodeId node{next_id()};
  const std::int64_t devices = make.rng.between(0, 8);
  draft_.put(make.node(node, site, pool, devices));
  last_id = node.value + static_cast<std::uint64_t>(devices);
  draft_.put(make.share({any_key(state().teams(), make.rng), pool}));
}

void History::submit(Batch& batch) {
  Workload w;
  w.id = {next_id()};
  w.team = any_key(state().teams(), make.rng);
  w.owner = any_key(state().users(), make.rng);
  w.pool = any_key(state().pools(), make.rng);
  std::string name = std::string{"train-"} + static_cast<char>('a' + make.rng.between(0, 3));
  if (state().workload_names().contains({w.team, name})) name = "only-" + w.id.text().substr(3);
  auto spec = make.spec(name, w.pool);
  for (auto n = make.rng.between(0, 2); n > 0; --n) {
    // Stands for a hash; a store does not look.
    const std::string sha = "sha-" + std::to_string(make.rng.between(0, 5));
    const std::string bytes = sha + std::string("\0of", 3);
    spec.files.push_back(
        {make.text(255), sha, static_cast<std::int64_t>(bytes.size()), make.rng.one_in(2)});
    batch.blobs.push_back({sha, bytes});
    blobs.emplace(sha, bytes);
  }
  w.spec = std::make_shared<const WorkloadSpec>(std::move(spec));
  make.change(w, WorkloadState::kWaiting);
  draft_.put(std::move(w));
}

void History::allocate() {
  if (state().workloads().empty() || state().nodes().empty()) return;
  const Workload& w = *state().workloads().find(any_key(state().workloads(), make.rng));
  const Node& node = *state().nodes().find(any_key(state().nodes(), make.rng));
  draft_.put(make.allocation({next_id()}, w, node));
}

void History::move_on_workload() {
  if (state().workloads().empty()) return;
  Workload w = *state().workloads().find(any_key(state().workloads(), make.rng));
  make.change(w, static_cast<WorkloadState>(make.rng.between(0, kWorkloadStateCount - 1)));
  if (has_ended(w.state)) ended[w.id] = w;
  draft_.put(std::move(w));
}

void History::move_on_allocation() {
  if (state().allocations().empty()) return;
  Allocation a = *state().allocations().find(any_key(state().allocations(), make.rng));
  make.change(a, static_cast<AllocationState>(make.rng.between(0, kAllocationStateCount - 1)));
  if (a.state == AllocationState::kReleased) released[a.workload][a.id] = a;
  draft_.put(std::move(a));
}

void History::erase_something() {
  if (state().members().size() > 1) draft_.erase(any_key(state().members(), make.rng));
  if (state().tokens().size() > 1) draft_.erase(any_key(state().tokens(), make.rng));
  const NodeId node = any_key(state().nodes(), make.rng);
  const auto held = state().node_allocations().lower_bound({node, AllocationId{}});
  const bool holds = held != state().node_allocations().end() && held->key.first == node;
  if (state().nodes().size() > 1 && !holds) draft_.erase(node);
}

void History::add_records(Batch& batch) {
  for (auto n = make.rng.between(0, 3); n > 0; --n) {
    FeedEvent event{static_cast<std::int64_t>(feed.size()) + 1,
                    make.at(),
                    {static_cast<std::uint64_t>(make.edge(0, INT64_MAX))},
                    static_cast<SubjectKind>(make.rng.between(0, kSubjectKindCount - 1)),
                    static_cast<std::uint64_t>(make.edge(0, INT64_MAX)),
                    "changed",
                    make.text(256)};
    feed.push_back(event);
    batch.feed.push_back(std::move(event));
    AuditEntry entry{static_cast<std::int64_t>(audit.size()) + 1,
                     make.at(),
                     {static_cast<std::uint64_t>(make.edge(0, INT64_MAX))},
                     "workload.submit",
                     static_cast<SubjectKind>(make.rng.between(0, kSubjectKindCount - 1)),
                     make.rng.next(),  // a refused act may name anything
                     {static_cast<std::uint64_t>(make.edge(0, INT64_MAX))},
                     make.text(63),
                     make.text(64 * 1024)};
    audit.push_back(entry);
    batch.audit.push_back(std::move(entry));
  }
  IdempotencyRecord record{any_key(state().users(), make.rng),
                           "POST /v1/workloads",
                           make.text(64),
                           "body",
                           static_cast<std::uint64_t>(make.edge(0, INT64_MAX)),
                           make.at()};
  idempotency[{record.user, record.route, record.key}] = record;
  batch.idempotency.push_back(std::move(record));
}

Batch History::next_batch(std::int64_t epoch) {
  Batch batch;
  batch.epoch = epoch;
  batch.batch_id = ++batch_id;
  batch.clock = clock = {make.at(), make.edge(0, INT64_MAX), make.text(64)};
  // First, so that nothing is gone before it was ever stored.
  if (!state().nodes().empty() && make.rng.one_in(3)) erase_something();
  if (state().teams().empty() || make.rng.one_in(4)) put_a_tenant();
  if (state().pools().empty() || make.rng.one_in(4)) put_the_estate();
  for (auto n = make.rng.between(0, 3); n > 0; --n) submit(batch);
  for (auto n = make.rng.between(0, 3); n > 0; --n) allocate();
  for (auto n = make.rng.between(0, 3); n > 0; --n) move_on_workload();
  for (auto n = make.rng.between(0, 3); n > 0; --n) move_on_allocation();
  add_records(batch);
  batch.changes = draft_.take_changes();
  return batch;
}

}  // namespace heddle::conformance
