// Workloads: list and create.
#include <algorithm>
#include <queue>

#include "api/call.h"
#include "api/digest.h"
#include "api/resolve.h"
#include "api/route.h"
#include "api/wire/names.h"
#include "api/wire/work.h"
#include "api/wire/workload_ask.h"
#include "base/units.h"

namespace heddle::api {
namespace {

// One request never looks at more rows than this; the page is then shorter, and its cursor goes on.
constexpr std::int64_t kLooksMax = 20'000;

struct ListAsk {
  std::vector<TeamId> teams;
  bool every_team = false;
  std::string name;
  std::optional<WorkloadState> state;
  std::optional<WorkloadClass> work_class;
  std::optional<WorkloadKind> kind;
  bool live = true;
  bool ended = false;

  bool keeps(const Workload& w) const {
    return (!state || w.state == *state) && (!work_class || w.spec->work_class == *work_class) &&
           (!kind || w.spec->kind == *kind) && (name.empty() || w.spec->name == name);
  }
};

// Live workloads of some teams, newest first, without looking at any other.
class LiveWalk {
 public:
  LiveWalk(const State& state, const ListAsk& ask, WorkloadId below) : state_{state} {
    if (!ask.live) return;
    if (ask.every_team && ask.name.empty()) {
      every_ = true;
      at_ = below.is_set() ? state.workloads().lower_bound(below) : state.workloads().end();
      return;
    }
    for (const TeamId team : ask.teams) {
      if (ask.name.empty()) {
        push(team, below.is_set() ? below : WorkloadId{~std::uint64_t{0}});
      } else if (const WorkloadId* id = state.workload_names().find({team, ask.name})) {
        if (!below.is_set() || *id < below) heads_.push({*id, TeamId{}});
      }
    }
  }

  const Workload* next() {
    if (every_) {
      if (at_ == state_.workloads().begin()) return nullptr;
      return &(--at_)->value;
    }
    if (heads_.empty()) return nullptr;
    const auto [id, team] = heads_.top();
    heads_.pop();
    if (team.is_set()) push(team, id);
    return state_.workloads().find(id);
  }

 private:
  void push(TeamId team, WorkloadId below) {
    const auto& index = state_.team_workloads();
    auto at = index.lower_bound({team, below});
    if (at == index.begin()) return;
    --at;
    if (at->key.first == team) heads_.push({at->key.second, team});
  }

  const State& state_;
  bool every_ = false;
  CowMap<WorkloadId, Workload>::const_iterator at_;
  std::priority_queue<std::pair<WorkloadId, TeamId>> heads_;
};

// Ended workloads from the store, newest first, a chunk at a time.
class EndedWalk {
 public:
  EndedWalk(Store& store, const ListAsk& ask, WorkloadId below, std::int64_t chunk)
      : store_{store}, open_{ask.ended} {
    query_.teams = ask.teams;
    query_.below = below;
    query_.name = ask.name;
    if (ask.state && has_ended(*ask.state)) query_.state = ask.state;
    query_.limit = std::min<std::int64_t>(chunk, 1000);
  }

  // Null at the end and after an error.
  const Workload* next() {
    if (at_ == rows_.size()) {
      if (!open_) return nullptr;
      auto rows = store_.ended_workloads(query_);
      if (!rows) {
        error = rows.error();
        open_ = false;
        return nullptr;
      }
      rows_ = std::move(*rows);
      at_ = 0;
      open_ = static_cast<std::int64_t>(rows_.size()) == query_.limit;
      if (rows_.empty()) return nullptr;
      query_.below = rows_.back().id;
    }
    return &rows_[at_++];
  }

  std::optional<Error> error;

 private:
  Store& store_;
  EndedQuery query_;
  std::vector<Workload> rows_;
  std::size_t at_ = 0;
  bool open_;
};

// False when it was answered already.
bool read_ask(const CallPtr& call, ListAsk& ask, PageAsk& page) {
  Faults faults;
  Query& query = call->query;
  const auto team = query.reference("team", faults);
  if (const auto state = query.choice("state", wire::kWorkloadStates, faults))
    ask.state = static_cast<WorkloadState>(*state);
  if (const auto work_class = query.choice("class", wire::kWorkloadClasses, faults))
    ask.work_class = static_cast<WorkloadClass>(*work_class);
  if (const auto kind = query.choice("kind", wire::kWorkloadKinds, faults))
    ask.kind = static_cast<WorkloadKind>(*kind);
  ask.name = query.name("name", faults).value_or("");
  ask.ended = query.flag("all", faults);
  const auto place = call->page(faults);
  query.finish(faults);
  if (!faults.empty() || !place) {
    call->fail(faults.empty() ? place.error() : faults.error());
    return false;
  }
  page = *place;
  if (ask.state) {
    ask.live = !has_ended(*ask.state);
    ask.ended = has_ended(*ask.state);
  }
  if (!team) {
    ask.teams = call->rights->visible_teams();
    ask.every_team = call->rights->sees_all();
    return true;
  }
  const auto id = find_team(*call, *team);
  if (!id) {
    call->fail(nothing_named("team"));
    return false;
  }
  ask.teams = {*id};
  return true;
}

std::string readable_name(const State& state, TeamId team, const std::string& program) {
  std::string base;
  for (const char c : program.substr(program.rfind('/') + 1)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      base.push_back(c);
    else if (c >= 'A' && c <= 'Z')
      base.push_back(static_cast<char>(c + 32));
    else if (!base.empty() && base.back() != '-')
      base.push_back('-');
  }
  base = base.substr(0, 40);
  while (base.ends_with('-')) base.pop_back();
  if (base.empty()) base = "work";
  constexpr std::string_view kLetters = "abcdefghjkmnpqrstuvwxyz23456789";
  std::string name;
  do {
    name = base + "-";
    for (const char c : random_bytes(5))
      name.push_back(kLetters[static_cast<unsigned char>(c) % kLetters.size()]);
  } while (state.workload_names().contains({team, name}));
  return name;
}

// The team that was asked for, or the only one where the asker may run work.
Result<TeamId> team_for(const CallPtr& call, const WorkloadAsk& ask) {
  if (ask.team) {
    const auto id = find_team(*call, *ask.team);
    if (!id) return nothing_named("team");
    return *id;
  }
  TeamId only;
  bool several = false;
  for (const auto& [key, member] : call->state().members()) {
    if (key.user != call->principal.user || member.role < Role::kDeveloper) continue;
    several = only.is_set();
    only = key.team;
    if (several) break;
  }
  if (only.is_set() && !several) return only;
  return Error{ErrorCode::kInvalidArgument,
               several ? "You run work in several teams: say for which this is."
                       : "Say for which team this is.",
               {{"/team", "required", ""}},
               {},
               "Add 'team', or --team on the command line."};
}

// A service counts as production when it fits the guarantee beside the team's other production.
bool fits_guarantee(const State& state, TeamId team, const Shape& shape) {
  const auto asked = asked_of(shape);
  if (!asked || shape.pools.empty()) return false;
  GpuAmount production;
  const auto& index = state.team_workloads();
  for (auto at = index.lower_bound({team, WorkloadId{}});
       at != index.end() && at->key.first == team; ++at) {
    const Workload* w = state.workloads().find(at->key.second);
    if (w == nullptr || w->spec->work_class != WorkloadClass::kProduction) continue;
    if (const auto amount = asked_of(w->spec->shape)) production += *amount;
  }
  return production + *asked <= state.share({team, shape.pools.front()}).guarantee;
}

void answer_preview(const CallPtr& call, TeamId team, const WorkloadAsk& ask) {
  const State& state = call->state();
  const WorkloadSpec& spec = ask.spec;
  const auto asked = asked_of(spec.shape);
  std::vector<std::string> pools;
  for (const PoolId id : spec.shape.pools) pools.push_back(state.pools().find(id)->name);
  PoolId first = spec.shape.pools.empty() ? PoolId{} : spec.shape.pools.front();
  if (!first.is_set() && state.pools().size() == 1) first = state.pools().begin()->key;
  const Pool* pool = state.pools().find(first);
  JsonWriter json;
  json.open()
      .text("name", spec.name)
      .id("team_id", team)
      .text("team_name", state.teams().find(team)->name)
      .text("team_from", ask.team ? "request" : "login")
      .text("kind", wire::kWorkloadKinds[static_cast<std::size_t>(spec.kind)])
      .text("class", wire::kWorkloadClasses[static_cast<std::size_t>(spec.work_class)])
      .text("class_from", ask.work_class ? "request" : "kind");
  write_resources(json, spec.shape.request);
  json.number("nodes", spec.shape.replicas);
  if (asked)
    json.number("gpu_milli", asked->as_milli());
  else
    json.null("gpu_milli");
  write_texts(json, "pools", pools);
  json.number_or_null("time_limit_ms", spec.time_limit.ms);
  if (asked && pool != nullptr) {
    const auto cost = [&](Duration span) {
      // A year of a million devices is beyond 64 bits, so cost goes by the hour and is scaled.
      const std::int64_t hour =
          cost_of(asked->as_milli() * 3'600'000, pool->price_per_gpu_hour).micros;
      __extension__ using Wide = __int128;
      const Wide scaled = static_cast<Wide>(hour) * span.ms / 3'600'000;
      return static_cast<std::int64_t>(std::min<Wide>(scaled, INT64_MAX));
    };
    json.large("price_micros_per_hour", cost(Duration::hours(1)));
    if (spec.time_limit.ms > 0)
      json.large("cost_micros_max", cost(spec.time_limit));
    else
      json.null("cost_micros_max");
  } else {
    json.null("price_micros_per_hour").null("cost_micros_max");
  }
  json.text("currency", call->shared->options.currency);
  write_texts(json, "notes", notes_of(state, first).notes);
  json.close();
  call->answer(json.take());
}

}  // namespace

void list_workloads(const CallPtr& call) {
  ListAsk ask;
  PageAsk page;
  if (!read_ask(call, ask, page)) return;
  const WorkloadId below{page.place.value_or(0)};
  LiveWalk lives{call->state(), ask, below};
  EndedWalk ends{call->shared->store, ask, below, page.limit + 1};
  WorkWriter writer{*call->view, *call->rights, call->shared->options.currency, call->now};
  JsonWriter json;
  json.open().open("items", '[');
  const Workload* live = lives.next();
  const Workload* ended = ends.next();
  std::int64_t count = 0;
  std::optional<std::uint64_t> last, next;
  for (std::int64_t looks = 0; live != nullptr || ended != nullptr; ++looks) {
    const bool take_live = ended == nullptr || (live != nullptr && live->id >= ended->id);
    const Workload& w = take_live ? *live : *ended;
    if (count == page.limit || looks == kLooksMax) {
      next = last;
      break;
    }
    last = w.id.value;
    if (ask.keeps(w)) {
      writer.workload(json, w);
      ++count;
    }
    // What ended between the view and the read of the store is there twice: shown once, as live.
    if (take_live && ended != nullptr && ended->id == w.id) ended = ends.next();
    if (take_live)
      live = lives.next();
    else
      ended = ends.next();
  }
  if (ends.error) return call->fail(*ends.error);
  close_list(json, *call, next);
  call->answer(json.take());
}

void create_workload(const CallPtr& call) {
  Faults faults;
  const bool dry_run = call->query.flag("dry_run", faults);
  call->query.finish(faults);
  if (!faults.empty()) return call->fail(faults.error());
  auto parsed = parse_workload(call->body);
  if (!parsed) return call->fail(parsed.error());
  auto ask = std::make_shared<WorkloadAsk>(std::move(*parsed));
  const auto team = team_for(call, *ask);
  if (!team) return call->fail(team.error());
  WorkloadSpec& spec = ask->spec;
  for (std::size_t i = 0; i < ask->pools.size(); ++i) {
    const auto pool = find_pool(call->state(), ask->pools[i]);
    if (!pool)
      return call->fail(Error::invalid("/pools/" + std::to_string(i), "unknown_pool",
                                       "There is no pool '" + ask->pools[i] + "'.", ask->pools[i]));
    spec.shape.pools.push_back(*pool);
  }
  if (spec.kind == WorkloadKind::kService && !ask->work_class &&
      fits_guarantee(call->state(), *team, spec.shape))
    spec.work_class = WorkloadClass::kProduction;
  if (spec.name.empty()) spec.name = readable_name(call->state(), *team, spec.command.front());
  if (dry_run) call->idempotency.reset();
  SubmitWorkload what{*team, std::make_shared<const WorkloadSpec>(spec), std::move(ask->blobs),
                      dry_run};
  Call::submit(call, std::move(what),
               [ask, dry_run, team = *team](const CallPtr& c, const Outcome& outcome) {
                 if (dry_run) return answer_preview(c, team, *ask);
                 auto found = find_workload(*c, WorkloadId{outcome.subject}.text());
                 if (!found) return c->fail(found.error());
                 if (!*found) return c->fail(nothing_named("workload"));
                 JsonWriter json;
                 WorkWriter{*c->view, *c->rights, c->shared->options.currency, c->now}.workload(
                     json, **found);
                 c->answer(json.take(), 201, (*found)->version);
               });
}

}  // namespace heddle::api
