// One workload: get, cancel, receipt, why; who holds what.
#include <algorithm>

#include "api/call.h"
#include "api/resolve.h"
#include "api/route.h"
#include "api/wire/work.h"

namespace heddle::api {
namespace {

bool refused(const CallPtr& call, Faults& faults) {
  call->query.finish(faults);
  if (faults.empty()) return false;
  call->fail(faults.error());
  return true;
}

WorkWriter writer_for(const CallPtr& call) {
  return {*call->view, *call->rights, call->shared->options.currency, call->now};
}

void answer_workload(const CallPtr& call) {
  JsonWriter json;
  writer_for(call).workload(json, *call->workload);
  call->answer(json.take(), 200, call->workload->version);
}

}  // namespace

void get_workload(const CallPtr& call) {
  Faults faults;
  if (!refused(call, faults)) answer_workload(call);
}

void cancel_workload(const CallPtr& call) {
  Faults faults;
  Fields{call->body, "", faults}.finish();
  if (refused(call, faults)) return;
  if (call->if_version && *call->if_version != call->workload->version)
    return call->fail({ErrorCode::kPreconditionFailed,
                       "This was changed meanwhile: it is at version " +
                           std::to_string(call->workload->version) + ".",
                       {},
                       {{"version", call->workload->version}},
                       "Read it again, then repeat the change."});
  if (has_ended(call->workload->state)) return answer_workload(call);
  CancelWorkload what{call->workload->id, call->if_version};
  Command command{{call->principal.user, call->request_id}, {}, what};
  call->shared->controller.submit(std::move(command), [call](Result<Outcome> outcome) {
    call->refresh();
    // It may have ended by itself meanwhile, which is as good.
    auto found = find_workload(*call, call->workload->id.text());
    if (!found) return call->fail(found.error());
    if (!*found) return call->fail(nothing_named("workload"));
    call->workload = std::move(*found);
    if (!outcome && !has_ended(call->workload->state)) return call->fail(outcome.error());
    answer_workload(call);
  });
}

void get_receipt(const CallPtr& call) {
  Faults faults;
  if (refused(call, faults)) return;
  JsonWriter json;
  writer_for(call).receipt(json, *call->workload);
  call->answer(json.take());
}

void get_why(const CallPtr& call) {
  Faults faults;
  if (refused(call, faults)) return;
  JsonWriter json;
  writer_for(call).why(json, *call->workload);
  call->answer(json.take());
}

namespace {

// Live and released ones of one workload, newest first.
Result<std::vector<Allocation>> all_of(const CallPtr& call, WorkloadId id) {
  auto released = call->shared->store.released_allocations(id);
  if (!released) return released.error();
  std::vector<Allocation> all = std::move(*released);
  const State& state = call->state();
  const auto& index = state.workload_allocations();
  for (auto at = index.lower_bound({id, AllocationId{}}); at != index.end() && at->key.first == id;
       ++at) {
    const Allocation* live = state.allocations().find(at->key.second);
    // What was released between the view and the read of the store is in both.
    std::erase_if(all, [&](const Allocation& a) { return a.id == live->id; });
    all.push_back(*live);
  }
  std::sort(all.begin(), all.end(),
            [](const Allocation& a, const Allocation& b) { return b.id < a.id; });
  return all;
}

}  // namespace

void list_allocations(const CallPtr& call) {
  Faults faults;
  const std::string* of = call->query.take("workload");
  const auto page = call->page(faults);
  call->query.finish(faults);
  if (!page) return call->fail(page.error());
  if (!faults.empty()) return call->fail(faults.error());
  WorkWriter writer = writer_for(call);
  JsonWriter json;
  json.open().open("items", '[');
  std::int64_t count = 0;
  std::optional<std::uint64_t> last, next;
  // False when the page is full.
  const auto take = [&](const Allocation& a, const std::string& name) {
    if (count == page->limit) {
      next = last;
      return false;
    }
    writer.allocation(json, a, name);
    last = a.id.value;
    ++count;
    return true;
  };
  if (of != nullptr) {
    if (!WorkloadId::parse(*of))
      return call->fail(
          Error::invalid("?workload", "bad_id", "?workload must be the id of a workload.", *of));
    auto found = find_workload(*call, *of);
    if (!found) return call->fail(found.error());
    if (!*found) return call->fail(nothing_named("workload"));
    auto all = all_of(call, (*found)->id);
    if (!all) return call->fail(all.error());
    for (const Allocation& a : *all)
      if ((!page->place || a.id.value < *page->place) && !take(a, (*found)->spec->name)) break;
  } else {
    const auto& rows = call->state().allocations();
    auto at = page->place ? rows.lower_bound(AllocationId{*page->place}) : rows.end();
    while (at != rows.begin()) {
      --at;
      if (!call->rights->may(Action::kWorkloadRead, at->value.team)) continue;
      const Workload* w = call->state().workloads().find(at->value.workload);
      if (!take(at->value, w == nullptr ? "" : w->spec->name)) break;
    }
  }
  close_list(json, *call, next);
  call->answer(json.take());
}

}  // namespace heddle::api
