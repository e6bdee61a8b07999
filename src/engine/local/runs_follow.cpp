// How a run goes on without its server, or without its shim.
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/check.h"
#include "engine/local/kept_end.h"
#include "engine/local/runs.h"
#include "sandbox/sandbox.h"
#include "shim/log_writer.h"
#include "shim/order.h"
#include "shim/record.h"
#include "shim/run_folder.h"

namespace heddle::local {
namespace {

constexpr std::size_t kSmallFile = 16 * 1024;
constexpr int kEndWaitMs = 3'000;

// The descriptor of a connected socket, or none. Never waits.
shim::Fd connect_in(int folder, const std::string& name) {
  shim::Fd socket{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // The state folder's path may be longer than an address.
  const std::string path = "/proc/self/fd/" + std::to_string(folder) + "/" + name;
  HEDDLE_CHECK(path.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return {};
  return socket;
}

}  // namespace

void Runs::listen_to(AllocationId id, shim::Fd connection) {
  Run& run = runs_.at(id);
  set_.poller.remove(std::exchange(run.connection_token, 0));
  run.connection = std::move(connection);
  run.connection_token = set_.poller.add(run.connection.get(), [this, id] { take_frames(id); });
}

void Runs::take_frames(AllocationId id) {
  shim::Frame frame;
  for (;;) {
    const auto entry = runs_.find(id);
    if (entry == runs_.end() || !entry->second.connection.is_open()) return;
    Run& run = entry->second;
    const shim::Receipt receipt = shim::receive_frame(run.connection.get(), frame);
    if (receipt == shim::Receipt::kNothing) return;
    const bool ours = frame.identity.allocation == run.identity.allocation &&
                      frame.identity.attempt == run.identity.attempt &&
                      frame.identity.nonce == run.identity.nonce;
    if (receipt == shim::Receipt::kClosed || !ours) {
      set_.poller.remove(std::exchange(run.connection_token, 0));
      run.connection.reset();
      resolve(id);
      return;
    }
    if (frame.type == shim::Frame::Type::kRunning && !run.running_reported && !run.unwanted) {
      run.running_reported = true;
      set_.report(ReportRunning{id, Instant{frame.at_ms}});
    }
    if (frame.type == shim::Frame::Type::kEnded) {
      const Result<shim::ExitRecord> exit = shim::ExitRecord::parse(frame.exit);
      if (exit) end(id, *exit);
    }
  }
}

void Runs::resolve(AllocationId id) {
  Run& run = runs_.at(id);
  if (run.over) return;
  const shim::Fd folder = shim::open_folder(set_.folders.run(id));
  if (!folder.is_open()) {
    lose(id, "The record of this run is gone from the machine.");
    return;
  }
  const Result<std::string> exit = shim::read_file(folder.get(), "exit", kSmallFile);
  if (exit) {
    const Result<shim::ExitRecord> record = shim::ExitRecord::parse(*exit);
    if (record)
      end(id, *record);
    else
      lose(id, "The record of this run's end is damaged.");
    return;
  }
  const Result<std::string> claim = shim::read_file(folder.get(), "pid", kSmallFile);
  if (!claim && claim.error().code == ErrorCode::kNotFound) {
    spawn_later(id);  // nobody claimed it, so nothing of it ever ran
    return;
  }
  // A shim that lives but does not speak to us any more listens to a newer server, and a server
  // that was overtaken ends nobody's work.
  if (claim && outlasts(id, *claim, run.unwanted)) return;
  const Result<std::string> running = shim::read_file(folder.get(), "running", kSmallFile);
  if (running) {
    const Result<shim::Record> record = shim::Record::parse(*running, "running", 1);
    if (record) {
      shim::RecordReader reader{*record};
      if (outlasts(id, reader.text("process", kSmallFile), true)) return;
    }
  }
  const Result<shim::ProcessIdentity> shim_process =
      claim ? shim::ProcessIdentity::parse(*claim) : Result<shim::ProcessIdentity>{claim.error()};
  const bool restarted = shim_process && shim_process->boot != shim::boot_id();
  lose(id, restarted ? "The machine was restarted while it ran."
                     : "The process that watched over it was killed, so it was ended, too.");
}

bool Runs::outlasts(AllocationId id, const std::string& process_bytes, bool unwanted) {
  const Result<shim::ProcessIdentity> process = shim::ProcessIdentity::parse(process_bytes);
  if (!process) return false;
  shim::Fd pidfd = shim::open_process(*process);
  if (!pidfd.is_open() || shim::has_ended(pidfd.get())) return false;
  // The first process of a sandbox takes everything inside with it, and ends after all of it.
  if (unwanted) syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
  Run& run = runs_.at(id);
  run.dying = std::move(pidfd);
  run.dying_token = set_.poller.add(run.dying.get(), [this, id] {
    Run& dead = runs_.at(id);
    set_.poller.remove(std::exchange(dead.dying_token, 0));
    dead.dying.reset();
    resolve(id);
  });
  return true;
}

void Runs::lose(AllocationId id, const std::string& message) {
  const std::string sandbox_id = id.text() + "-" + set_.orders.id_suffix;
  if (set_.orders.isolate &&
      !sandbox::end_left_over(set_.orders.cgroup_parent, sandbox_id, kEndWaitMs)) {
    set_.report(ReportLost{id, now(), "Something of it cannot be ended yet."});
    // Nobody waits for what the ledger does not know; the next server tries again.
    if (runs_.at(id).unwanted && runs_.erase(id) == 1) --unwanted_;
    return;
  }
  Run& run = runs_.at(id);
  shim::ExitRecord exit;
  exit.allocation = id.value;
  exit.attempt = run.identity.attempt;
  exit.cause = shim::ExitRecord::Cause::kLost;
  exit.message = message;
  exit.ended_at_ms = exit.released_at_ms = now().ms;
  if (!run.log_folder.empty()) {
    shim::LogWriter log{run.log_folder, set_.orders.log_segment_bytes, set_.orders.log_segments};
    log.append({exit.ended_at_ms, shim::LogRecord::Stream::kHeddle, false, message});
    log.finish(exit.ended_at_ms);
  }
  const shim::Fd folder = shim::open_folder(set_.folders.run(id));
  if (folder.is_open())
    (void)shim::write_file(folder.get(), "exit", exit.encode()).has_value();
  else
    (void)make_run_folder(id, "exit", exit.encode()).has_value();
  end(id, exit);
}

Result<Done> Runs::connect(std::int64_t epoch, const std::vector<Allocation>& live) {
  epoch_ = epoch;
  const shim::Fd runs = shim::open_folder(set_.folders.runs());
  if (!runs.is_open())
    return Error{ErrorCode::kUnavailable, "The folder of the runs cannot be opened.", {}, {}, {}};
  std::set<AllocationId> wanted;
  for (const Allocation& allocation : live) wanted.insert(allocation.id);
  for (const std::string& name : shim::names_in(runs.get())) {
    if (name.starts_with(".")) {
      remove_folder(name);  // a start that was not finished: nothing ran
      continue;
    }
    const auto id = AllocationId::parse(name);
    if (!id) continue;
    runs_.try_emplace(*id);
    adopt(*id, wanted.contains(*id));
  }
  for (const Allocation& allocation : live) {
    if (runs_.contains(allocation.id)) continue;
    // What was only planned or sent never came here: it is ordered again. So is a stop.
    if (allocation.state == AllocationState::kPlanned || allocation.state == AllocationState::kSent)
      continue;
    if (allocation.stop_requested && !allocation.running_at.is_set()) continue;
    Run& run = runs_[allocation.id];
    run.identity.attempt = allocation.attempt;
    run.log_folder = set_.folders.log(allocation.workload, allocation.attempt, allocation.replica);
    if (const auto exit = kept_end(run.log_folder))
      end(allocation.id, *exit);
    else
      lose(allocation.id, "The machine has no record of this run.");
  }
  return Done{};
}

bool Runs::ended_before(const StartOrder& order) const {
  return kept_end(set_.folders.log(order.workload, order.attempt, order.replica)).has_value();
}

void Runs::report_kept_end(AllocationId id, const std::string& log_folder) {
  shim::ExitRecord rest;  // of a gang that ended in part: it is over as a whole
  rest.cause = shim::ExitRecord::Cause::kLost;
  rest.message = "Another replica of this run ended before the backup was put in place.";
  rest.ended_at_ms = rest.released_at_ms = now().ms;
  set_.report(ReportAccepted{id});
  end(id, kept_end(log_folder).value_or(rest));
}

void Runs::drop_unwanted(AllocationId id) {
  let_go(runs_.at(id));
  runs_.erase(id);
  remove_folder(id.text());
  --unwanted_;
}

void Runs::start_postponed() {
  if (unwanted_ > 0 || postponed_.empty()) return;
  std::vector<StartOrder> orders;
  for (auto& [id, order] : std::exchange(postponed_, {})) orders.push_back(std::move(order));
  start_now(orders);
}

void Runs::adopt(AllocationId id, bool wanted) {
  Run& run = runs_.at(id);
  if (!wanted && !run.unwanted) ++unwanted_;
  run.unwanted = !wanted;
  const shim::Fd folder = shim::open_folder(set_.folders.run(id));
  if (shim::exists(folder.get(), "refused")) {
    run.over = true;
    if (wanted)
      set_.report(ReportReleased{id, now()});
    else
      drop_unwanted(id);
    return;
  }
  const Result<std::string> bytes = shim::read_file(folder.get(), "order", shim::Record::kMaxBytes);
  const Result<shim::Order> order =
      bytes ? shim::Order::parse(*bytes) : Result<shim::Order>{bytes.error()};
  if (order && order->identity.allocation == id.value) {
    run.identity = order->identity;
    run.log_folder = order->log_folder;
    run.network = order->program.join_network;
    run.uid = order->program.uid;
  }
  const Result<std::string> claim = shim::read_file(folder.get(), "pid", kSmallFile);
  const bool claimed = claim || claim.error().code != ErrorCode::kNotFound;
  if (!claimed && !shim::exists(folder.get(), "exit") &&
      (!wanted || !order || order->anchor_boot != shim::boot_id())) {
    // Never begun, and not to begin any more.
    fail_start(id, "The machine was restarted before it started.");
    return;
  }
  if (!claim || !connect_to_shim(id, *claim)) {
    resolve(id);
    return;
  }
  if (wanted) {
    set_.report(ReportAccepted{id});
  } else {
    run.stop_grace = Duration{};
    send_stop(run);
  }
}

bool Runs::connect_to_shim(AllocationId id, const std::string& process_bytes) {
  const Result<shim::ProcessIdentity> process = shim::ProcessIdentity::parse(process_bytes);
  if (!process) return false;
  const shim::Fd pidfd = shim::open_process(*process);
  if (!pidfd.is_open() || shim::has_ended(pidfd.get())) return false;
  const shim::Fd folder = shim::open_folder(set_.folders.run(id));
  shim::Fd connection = connect_in(folder.get(), "s" + std::to_string(process->pid));
  if (!connection.is_open()) return false;
  shim::Frame hello;
  hello.type = shim::Frame::Type::kHello;
  hello.identity = runs_.at(id).identity;
  hello.identity.epoch = std::max(epoch_, hello.identity.epoch);
  if (!shim::send_frame(connection.get(), hello)) return false;
  listen_to(id, std::move(connection));
  return true;
}

}  // namespace heddle::local
