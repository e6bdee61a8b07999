#include "engine/local/runs.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/check.h"
#include "engine/local/kept_end.h"

namespace heddle::local {
namespace {

constexpr int kMaxSpawns = 3;

std::string new_nonce() {
  std::array<unsigned char, 16> bytes{};
  HEDDLE_CHECK(getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

EndFact fact_of(const shim::ExitRecord& exit) {
  using Cause = shim::ExitRecord::Cause;
  EndFact fact;
  fact.exit_code = exit.exit_code;
  fact.signal = exit.signal;
  fact.message = exit.message;
  switch (exit.cause) {
    case Cause::kExited:
      fact.cause = EndCause::kExited;
      break;
    case Cause::kSignalled:
      fact.cause = EndCause::kSignalled;
      break;
    case Cause::kOutOfMemory:
      fact.cause = EndCause::kOutOfMemory;
      break;
    case Cause::kStartFailed:
      fact.cause = EndCause::kStartFailed;
      break;
    case Cause::kNeverStarted:
      fact.cause = EndCause::kNone;
      break;
    case Cause::kLost:
      fact.cause = EndCause::kLost;
      break;
  }
  return fact;
}

// Whatever it did on being stopped, its work was not done.
shim::ExitRecord ended_with_its_ledger(shim::ExitRecord exit) {
  exit.cause = shim::ExitRecord::Cause::kLost;
  exit.message = "It was started after the backup that was put in place, so it was ended.";
  return exit;
}

}  // namespace

Runs::~Runs() {
  for (auto& [id, run] : runs_) let_go(run);
}

void Runs::start(const std::vector<StartOrder>& orders) {
  if (unwanted_ == 0) return start_now(orders);
  std::vector<StartOrder> urgent;
  for (const StartOrder& order : orders) {
    if (!postponed_.emplace(order.allocation, order).second) urgent.push_back(order);
  }
  // Ordered twice: something cannot be ended, and nobody waits for it any longer.
  if (!urgent.empty())
    for (const auto& [id, run] : runs_)
      if (run.unwanted) keep_end(run.log_folder, ended_with_its_ledger({}));
  for (const StartOrder& order : urgent) postponed_.erase(order.allocation);
  start_now(urgent);
}

void Runs::start_now(const std::vector<StartOrder>& orders) {
  Prepared prepared;
  std::set<std::pair<WorkloadId, std::int64_t>> over;
  for (const StartOrder& order : orders)
    if (ended_before(order)) over.insert({order.workload, order.attempt});
  for (const StartOrder& order : orders) {
    const auto [entry, is_new] = runs_.try_emplace(order.allocation);
    if (!is_new) {
      // Told again what it was told before: nothing starts twice, and a refusal stays one.
      if (entry->second.identity.nonce.empty() && entry->second.over)
        set_.report(ReportReleased{order.allocation, now()});
      continue;
    }
    if (over.contains({order.workload, order.attempt})) {
      report_kept_end(order.allocation,
                      set_.folders.log(order.workload, order.attempt, order.replica));
      continue;
    }
    Run& run = entry->second;
    run.identity = {order.allocation.value, order.attempt, order.epoch, new_nonce()};
    const Result<Done> ready = prepare(order, prepared, run);
    if (!ready) {
      fail_start(order.allocation, ready.error().message);
      continue;
    }
    set_.report(ReportAccepted{order.allocation});
    spawn_later(order.allocation);
  }
}

// Everything that a shim needs lies there when this returns; from then on the run exists.
Result<Done> Runs::prepare(const StartOrder& order, Prepared& prepared, Run& run) {
  if (!set_.refusal.empty()) return Error{ErrorCode::kNotSupported, set_.refusal, {}, {}, {}};
  const Result<uid_t> uid = team_uid(order.team_slot);
  if (!uid) return uid.error();
  const auto key = std::pair{order.workload, order.attempt};
  auto folder = prepared.find(key);
  if (folder == prepared.end()) {
    Result<Done> made = set_.folders.make_work(order.team, order.workload, *uid);
    if (made)
      made =
          set_.folders.put_files(set_.folders.work(order.team, order.workload), order.files, *uid);
    folder = prepared.emplace(key, std::move(made)).first;
  }
  if (!folder->second) return folder->second;
  const Result<Done> log = set_.folders.make_log(order.workload, order.attempt, order.replica);
  if (!log) return log;
  Result<shim::Order> made = make_order(order, set_.orders, set_.folders, set_.hardware);
  if (!made) return made.error();
  made->identity = run.identity;
  made->anchor_instant_ms = now().ms;
  made->anchor_boot_ms = shim::boot_now_ms();
  made->anchor_boot = shim::boot_id();
  run.log_folder = made->log_folder;
  run.network = made->program.join_network;
  run.uid = *uid;
  set_.log_folder_made(run.log_folder);
  const std::string bytes = made->encode();
  // A longer one would be refused by its shim.
  if (!shim::Order::parse(bytes))
    return Error{ErrorCode::kTooLarge,
                 "Its command and settings are too long for this machine.",
                 {},
                 {},
                 {}};
  return make_run_folder(order.allocation, "order", bytes);
}

Result<Done> Runs::make_run_folder(AllocationId id, const std::string& file,
                                   const std::string& bytes) {
  const std::string draft = set_.folders.runs() + "/." + id.text();
  const std::string name = set_.folders.run(id);
  if (mkdir(draft.c_str(), 0700) != 0 && errno != EEXIST)
    return Error{errno == ENOSPC ? ErrorCode::kStorageFull : ErrorCode::kInternal,
                 std::string{"The run's folder cannot be made: "} + std::strerror(errno) + ".",
                 {},
                 {},
                 {}};
  const shim::Fd folder = shim::open_folder(draft);
  Result<Done> wrote = shim::write_file(folder.get(), file, bytes);
  if (wrote && renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, name.c_str(), RENAME_NOREPLACE) != 0)
    wrote = Error{ErrorCode::kConflict,
                  std::string{"The run's folder cannot be named: "} + std::strerror(errno) + ".",
                  {},
                  {},
                  {}};
  if (!wrote) remove_folder("." + id.text());
  return wrote;
}

void Runs::spawn_later(AllocationId id) { to_spawn_.push_back(id); }

void Runs::spawn_all() {
  std::size_t at = 0;
  while (at < to_spawn_.size() || !networks_to_unpin_.empty()) {
    shim::SpawnRequest request;
    std::vector<shim::Fd> theirs;
    std::vector<int> connections;
    std::vector<AllocationId> asked;
    for (; at < to_spawn_.size() && request.runs.size() < shim::SpawnRequest::kMaxRuns; ++at) {
      const AllocationId id = to_spawn_[at];
      Run& run = runs_.at(id);
      if (run.over) continue;
      std::array<int, 2> pair{};
      if (++run.spawns > kMaxSpawns ||
          socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()) != 0) {
        fail_start(id, "The machine could not start another program.");
        continue;
      }
      listen_to(id, shim::Fd{pair[0]});
      theirs.emplace_back(pair[1]);
      connections.push_back(pair[1]);
      request.runs.push_back({set_.folders.run(id), run.network, std::int64_t{run.uid}});
      asked.push_back(id);
      if (run.stop_grace) send_stop(run);
    }
    while (!networks_to_unpin_.empty() && request.unpin.size() < shim::SpawnRequest::kMaxRuns)
      request.unpin.push_back(networks_to_unpin_.extract(networks_to_unpin_.begin()).value());
    if (set_.spawner.send(request, connections)) continue;
    // A spawner that was killed did nothing of this; a new one gets it once more.
    set_.spawner.drop();
    const auto started = set_.spawner.start();
    if (started && set_.spawner.send(request, connections)) continue;
    for (const AllocationId id : asked)
      fail_start(
          id, started ? "The machine could not start another program." : started.error().message);
  }
  to_spawn_.clear();
}

void Runs::fail_start(AllocationId id, const std::string& message) {
  Run& run = runs_.at(id);
  shim::ExitRecord exit;
  exit.allocation = id.value;
  exit.attempt = run.identity.attempt;
  exit.cause = shim::ExitRecord::Cause::kStartFailed;
  exit.message = message;
  exit.ended_at_ms = exit.released_at_ms = now().ms;
  const shim::Fd folder = shim::open_folder(set_.folders.run(id));
  if (folder.is_open()) {
    // Whoever claims the run first has it; a shim that was quicker than our doubt goes on.
    const auto claimed = shim::create_file(folder.get(), "pid", shim::ProcessIdentity{}.encode());
    if (!claimed && claimed.error().code == ErrorCode::kConflict) {
      adopt(id, !run.unwanted);
      return;
    }
    (void)shim::write_file(folder.get(), "exit", exit.encode()).has_value();
  } else {
    (void)make_run_folder(id, "exit", exit.encode()).has_value();
  }
  end(id, exit);
}

// From now on a start of this allocation is refused, also after a restart of the server.
void Runs::refuse(AllocationId id) {
  Run& run = runs_[id];
  run.over = true;
  (void)make_run_folder(id, "refused", "").has_value();
  set_.report(ReportReleased{id, now()});
}

void Runs::stop(AllocationId id, Duration grace) {
  const auto entry = runs_.find(id);
  if (entry == runs_.end()) {
    refuse(id);
    return;
  }
  Run& run = entry->second;
  if (run.over) {
    if (run.identity.nonce.empty()) set_.report(ReportReleased{id, now()});
    return;
  }
  run.stop_grace = grace;
  send_stop(run);
}

void Runs::send_stop(const Run& run) {
  if (!run.connection.is_open()) return;
  shim::Frame frame;
  frame.type = shim::Frame::Type::kStop;
  frame.identity = run.identity;
  frame.identity.epoch = epoch_;
  frame.grace_ms = run.stop_grace->ms;
  // When it is gone instead, its connection tells us next.
  shim::send_frame(run.connection.get(), frame);
}

void Runs::forget(AllocationId id) {
  const auto entry = runs_.find(id);
  if (entry == runs_.end() || !entry->second.over) return;
  if (entry->second.connection.is_open()) {
    // Its exit could not be written (disk full), so the shim still keeps it.
    shim::Frame frame;
    frame.type = shim::Frame::Type::kForget;
    frame.identity = entry->second.identity;
    frame.identity.epoch = epoch_;
    shim::send_frame(entry->second.connection.get(), frame);
  }
  if (entry->second.exit) keep_end(entry->second.log_folder, *entry->second.exit);
  let_go(entry->second);
  runs_.erase(entry);
  remove_folder(id.text());
}

void Runs::end(AllocationId id, const shim::ExitRecord& exit) {
  Run& run = runs_.at(id);
  if (run.over) return;
  run.over = true;
  const std::string network = std::exchange(run.network, {});
  if (run.unwanted) {
    keep_end(run.log_folder, run.stop_grace ? ended_with_its_ledger(exit) : exit);
    drop_unwanted(id);
  } else {
    run.exit = exit;
    if (exit.running_at_ms > 0 && !run.running_reported)
      set_.report(ReportRunning{id, Instant{exit.running_at_ms}});
    if (exit.cause != shim::ExitRecord::Cause::kNeverStarted)
      set_.report(ReportEnded{id, Instant{exit.ended_at_ms}, fact_of(exit), exit.cpu_ms,
                              exit.peak_memory_bytes});
    set_.report(ReportReleased{id, Instant{exit.released_at_ms}});
  }
  release_network(network);
  start_postponed();
}

// The last replica of a gang switches off the light.
void Runs::release_network(const std::string& path) {
  if (path.empty()) return;
  for (const auto& [id, run] : runs_)
    if (run.network == path) return;
  networks_to_unpin_.insert(path);
}

void Runs::let_go(Run& run) {
  set_.poller.remove(std::exchange(run.connection_token, 0));
  set_.poller.remove(std::exchange(run.dying_token, 0));
  run.connection.reset();
  run.dying.reset();
}

void Runs::remove_folder(const std::string& name) {
  const std::string path = set_.folders.runs() + "/" + name;
  const shim::Fd folder = shim::open_folder(path);
  if (!folder.is_open()) return;
  for (const std::string& file : shim::names_in(folder.get()))
    unlinkat(folder.get(), file.c_str(), 0);
  rmdir(path.c_str());
}

}  // namespace heddle::local
