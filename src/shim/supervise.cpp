#include "shim/supervise.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "shim/exit_record.h"
#include "shim/frame.h"
#include "shim/log_writer.h"
#include "shim/networks.h"
#include "shim/order.h"
#include "shim/program.h"
#include "shim/record.h"

namespace heddle::shim {
namespace {

constexpr int kRestWaitMs = 300;     // an unfinished line is shown after this long
constexpr int kExitRetryMs = 1'000;  // how often a full disk is tried again
constexpr int kKillWaitMs = 5'000;

// Listens in the run folder, which is the working directory: paths there fit into an address.
Fd listen_here() {
  Fd listener{socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "s" + std::to_string(getpid());
  std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  unlink(name.c_str());
  if (!listener.is_open() ||
      bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener.get(), 4) != 0)
    return {};
  return listener;
}

bool is_own_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

class Shim {
 public:
  Shim(int folder, Order order, Fd engine, Fd listener, Fd network, Fd networks)
      : folder_{folder},
        order_{std::move(order)},
        engine_{std::move(engine)},
        listener_{std::move(listener)},
        network_{std::move(network)},
        networks_{std::move(networks)},
        log_{order_.log_folder, order_.log_segment_bytes, order_.log_segments} {
    exit_.allocation = order_.identity.allocation;
    exit_.attempt = order_.identity.attempt;
  }

  int run() {
    take_frames();
    if (stop_requested_)
      note_end(ExitRecord::Cause::kNeverStarted, "Stopped before it started.");
    else if (start())
      watch();
    log_.finish(now_ms());
    exit_.released_at_ms = now_ms();
    deliver_exit();
    return 0;
  }

 private:
  std::int64_t now_ms() const {
    return order_.anchor_instant_ms + (boot_now_ms() - order_.anchor_boot_ms);
  }

  void note_end(ExitRecord::Cause cause, std::string message) {
    exit_.cause = cause;
    exit_.message = std::move(message);
    exit_.message.resize(std::min(exit_.message.size(), ExitRecord::kMessageBytes));
    exit_.ended_at_ms = now_ms();
    say(exit_.message);
  }

  // A line of ours in the job's log.
  void say(std::string_view text) {
    log_.append({now_ms(), LogRecord::Stream::kHeddle, false, text.substr(0, LogRecord::kMaxText)});
  }

  bool start() {
    int out[2];
    int err[2];
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
      note_end(ExitRecord::Cause::kStartFailed, "The machine has no room for another process.");
      return false;
    }
    out_ = Fd{out[0]};
    err_ = Fd{err[0]};
    fcntl(out_.get(), F_SETFL, O_NONBLOCK);
    fcntl(err_.get(), F_SETFL, O_NONBLOCK);
    {
      const Fd out_writer{out[1]};
      const Fd err_writer{err[1]};
      order_.program.stdout_fd = out_writer.get();
      order_.program.stderr_fd = err_writer.get();
      if (order_.program.join_network.empty()) order_.program.network_fd = network_.get();
      auto started = order_.isolate ? start_sandboxed(order_.program) : start_plain(order_.program);
      if (!started) {
        note_end(ExitRecord::Cause::kStartFailed, started.error().message);
        return false;
      }
      program_ = std::move(*started);
    }
    exit_.running_at_ms = now_ms();
    if (!order_.isolate || !order_.program.join_network.empty())
      network_.reset();
    else if (!network_.is_open())
      network_ = Fd{sandbox::open_network(program_->pid())};
    // Should this shim be killed, the server ends the tree by what stands here.
    Record running;
    const ProcessIdentity first = identify(program_->pid());
    running.add("process", first.encode());
    running.add_number("at_ms", exit_.running_at_ms);
    (void)write_file(folder_, "running", running.encode("running", 1)).has_value();
    tell_running();
    return true;
  }

  void watch() {
    while (!has_ended(program_->pidfd())) {
      std::array<pollfd, 5> fds{pollfd{program_->pidfd(), POLLIN, 0},
                                {out_.get(), POLLIN, 0},
                                {err_.get(), POLLIN, 0},
                                {listener_.get(), POLLIN, 0},
                                {engine_.get(), POLLIN, 0}};
      const int ready = poll(fds.data(), fds.size(), wait_ms());
      if (ready < 0 && errno != EINTR) break;
      if (fds[1].revents != 0) take_output(out_, out_cutter_);
      if (fds[2].revents != 0) take_output(err_, err_cutter_);
      if (ready == 0) show_rest();
      log_.flush();
      if (fds[3].revents != 0) accept_engine();
      if (fds[4].revents != 0) take_frames();
      reap_orphans();
      apply_stop();
    }
    end();
  }

  // -1: until something happens.
  int wait_ms() const {
    std::int64_t wait = -1;
    if (out_cutter_.has_rest() || err_cutter_.has_rest()) wait = kRestWaitMs;
    if (stop_requested_ && !killed_) {
      const std::int64_t left = std::max<std::int64_t>(0, kill_at_boot_ms_ - boot_now_ms());
      wait = wait < 0 ? left : std::min(wait, left);
    }
    return static_cast<int>(std::min<std::int64_t>(wait, 3'600'000));
  }

  void show_rest() {
    out_cutter_.flush_rest(now_ms(), false, log_);
    err_cutter_.flush_rest(now_ms(), false, log_);
  }

  // Reads once; the program's other needs come between two reads. False when nothing more is there.
  bool take_output(Fd& pipe, LineCutter& cutter) {
    if (!pipe.is_open()) return false;
    const ssize_t got = read(pipe.get(), buffer_.data(), buffer_.size());
    if (got > 0) {
      cutter.feed({buffer_.data(), static_cast<std::size_t>(got)}, now_ms(), log_);
      return true;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    pipe.reset();
    return false;
  }

  // As a subreaper this process gets what its program leaves behind outside the sandbox. The
  // program itself is reaped by finish() only.
  void reap_orphans() {
    for (;;) {
      siginfo_t info{};
      if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
      if (info.si_pid == program_->pid()) return;
      waitpid(info.si_pid, nullptr, WNOHANG);
    }
  }

  void apply_stop() {
    if (!stop_requested_) return;
    if (!termed_ && grace_ms_ > 0) program_->signal(SIGTERM);
    termed_ = true;
    if (killed_ || boot_now_ms() < kill_at_boot_ms_) return;
    killed_ = program_->kill_tree(kKillWaitMs);
    // What cannot die yet (waiting for a disk) is tried again; nothing is released before.
    if (!killed_) kill_at_boot_ms_ = boot_now_ms() + kExitRetryMs;
  }

  void end() {
    exit_.ended_at_ms = now_ms();
    // Nothing is released before the last process is gone, however long that takes.
    while (!program_->kill_tree(kKillWaitMs)) continue;
    while (take_output(out_, out_cutter_)) continue;
    while (take_output(err_, err_cutter_)) continue;
    out_cutter_.flush_rest(now_ms(), true, log_);
    err_cutter_.flush_rest(now_ms(), true, log_);
    const Result<sandbox::Exit> exit = program_->finish();
    if (!exit) {
      exit_.cause = ExitRecord::Cause::kLost;
      exit_.message = exit.error().message;
      return;
    }
    give_network_back();
    exit_.cpu_ms = std::max<std::int64_t>(0, exit->cpu_ms);
    exit_.peak_memory_bytes = std::max<std::int64_t>(0, exit->peak_memory_bytes);
    exit_.cause = exit->out_of_memory ? ExitRecord::Cause::kOutOfMemory
                  : exit->signalled   ? ExitRecord::Cause::kSignalled
                                      : ExitRecord::Cause::kExited;
    if (exit->out_of_memory)
      say("It was ended because it needed more memory than it may use (" +
          std::to_string(order_.program.memory_bytes >> 20) + " MiB).");
    (exit->signalled ? exit_.signal : exit_.exit_code) = exit->code;
  }

  // For the next run of the same team; nobody of this one is left to use it.
  void give_network_back() {
    if (!network_.is_open() || !networks_.is_open()) return;
    if (sandbox::network_is_unused(network_.get()))
      send_network(networks_.get(), order_.program.uid, network_.get());
    network_.reset();
  }

  // ---- the server ----

  Frame frame(Frame::Type type) const {
    Frame frame;
    frame.type = type;
    frame.identity = order_.identity;
    return frame;
  }

  void tell_running() {
    if (!engine_.is_open() || exit_.running_at_ms == 0) return;
    Frame running = frame(Frame::Type::kRunning);
    running.at_ms = exit_.running_at_ms;
    send_frame(engine_.get(), running);
  }

  void accept_engine() {
    Fd peer{accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!peer.is_open() || !is_own_user(peer.get())) return;
    // The newest server counts; what an older one still sends is refused by its epoch. A stranger
    // says nothing and is let go of after a moment.
    pollfd waiting{peer.get(), POLLIN, 0};
    if (poll(&waiting, 1, 1'000) != 1) return;
    Frame hello;
    if (receive_frame(peer.get(), hello) != Receipt::kFrame || hello.type != Frame::Type::kHello ||
        !is_ours(hello))
      return;
    engine_ = std::move(peer);
    tell_running();
    if (finished_) tell_ended();
  }

  bool is_ours(const Frame& frame) {
    RunIdentity claimed = frame.identity;
    claimed.epoch = order_.identity.epoch;
    if (!(claimed == order_.identity) || frame.identity.epoch < order_.identity.epoch) return false;
    order_.identity.epoch = frame.identity.epoch;
    return true;
  }

  void take_frames() {
    Frame frame;
    while (engine_.is_open()) {
      const Receipt receipt = receive_frame(engine_.get(), frame);
      if (receipt == Receipt::kNothing) return;
      if (receipt == Receipt::kClosed || !is_ours(frame)) {
        engine_.reset();
        return;
      }
      if (frame.type == Frame::Type::kForget) forgotten_ = true;
      if (frame.type == Frame::Type::kStop) request_stop(frame.grace_ms);
    }
  }

  // A second stop may shorten the grace, never lengthen it.
  void request_stop(std::int64_t grace_ms) {
    const std::int64_t kill_at = boot_now_ms() + grace_ms;
    if (stop_requested_ && kill_at >= kill_at_boot_ms_) return;
    stop_requested_ = true;
    grace_ms_ = grace_ms;
    kill_at_boot_ms_ = kill_at;
  }

  void tell_ended() {
    if (!engine_.is_open()) return;
    Frame ended = frame(Frame::Type::kEnded);
    ended.exit = exit_.encode();
    send_frame(engine_.get(), ended);
  }

  // Until the exit is in a file this process is the only one who knows it.
  void deliver_exit() {
    finished_ = true;
    bool told = false;
    while (!forgotten_) {
      const Result<Done> wrote = write_file(folder_, "exit", exit_.encode());
      // A run folder that is gone says that nobody wants to know.
      if (wrote || wrote.error().code == ErrorCode::kNotFound) break;
      if (!told) tell_ended();
      told = true;
      std::array<pollfd, 2> fds{pollfd{listener_.get(), POLLIN, 0}, {engine_.get(), POLLIN, 0}};
      poll(fds.data(), fds.size(), kExitRetryMs);
      if (fds[0].revents != 0) accept_engine();
      if (fds[1].revents != 0) take_frames();
    }
    if (!told) tell_ended();
  }

  int folder_;
  Order order_;
  Fd engine_;
  Fd listener_;
  Fd network_;
  Fd networks_;
  LogWriter log_;
  LineCutter out_cutter_{LogRecord::Stream::kOut};
  LineCutter err_cutter_{LogRecord::Stream::kErr};
  Fd out_;
  Fd err_;
  std::unique_ptr<Program> program_;
  ExitRecord exit_;
  bool stop_requested_ = false;
  bool termed_ = false;
  bool killed_ = false;
  bool forgotten_ = false;
  bool finished_ = false;
  std::int64_t grace_ms_ = 0;
  std::int64_t kill_at_boot_ms_ = 0;
  std::array<char, 64 * 1024> buffer_;
};

}  // namespace

int supervise(const std::string& run_folder, Fd engine, Fd network, Fd networks) {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);
  if (chdir(run_folder.c_str()) != 0) return 1;
  const Fd folder = open_folder(".");
  const Result<std::string> bytes = read_file(folder.get(), "order", Record::kMaxBytes);
  if (!bytes) return 1;
  Result<Order> order = Order::parse(*bytes);
  if (!order) return 1;
  Fd listener = listen_here();
  if (!listener.is_open()) return 1;
  // From here on this run is ours, or somebody else's for ever.
  if (!create_file(folder.get(), "pid", identify(getpid()).encode())) {
    unlink(("s" + std::to_string(getpid())).c_str());
    return 0;
  }
  return Shim{folder.get(),        std::move(*order),  std::move(engine),
              std::move(listener), std::move(network), std::move(networks)}
      .run();
}

}  // namespace heddle::shim
