#include "engine/local/local_engine.h"

#include <atomic>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "engine/local/chores.h"
#include "engine/local/folders.h"
#include "engine/local/hardware.h"
#include "engine/local/log_reader.h"
#include "engine/local/log_watches.h"
#include "engine/local/poller.h"
#include "engine/local/runs.h"
#include "engine/local/spawner_link.h"

namespace heddle::local {
namespace {

constexpr std::string_view kNotSeparated =
    "Jobs on this machine are not separated from each other. Run only code you trust.";
constexpr std::string_view kFencedNot =
    "Shares of a GPU are counted, not fenced: a neighbour can use more memory than its share.";
constexpr std::string_view kNotWiped = "GPU memory is not wiped between teams on this hardware.";

// Eight hexadecimal digits of a state folder's path (FNV-1a): the engines of one machine name their
// sandboxes apart.
std::string suffix_of(std::string_view path) {
  std::uint32_t hash = 2166136261U;
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  std::string text;
  for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[(hash >> shift) & 15];
  return text;
}

// Sandboxes refuse paths that lead through links, and these two are the operator's own.
LocalOptions plain_paths(LocalOptions options) {
  for (std::string* path : {&options.state_folder, &options.shim_path}) {
    std::error_code error;
    const std::filesystem::path plain = std::filesystem::weakly_canonical(*path, error);
    if (!error) *path = plain.string();
  }
  return options;
}

class Watch final : public Engine::LogWatch {
 public:
  explicit Watch(std::shared_ptr<LogWatches::Follower> follower) : follower_{std::move(follower)} {}
  ~Watch() override { follower_->close(); }

 private:
  std::shared_ptr<LogWatches::Follower> follower_;
};

// Commands from any thread are done in order on the engine's own thread, which is the only one that
// touches runs_, watches_ and spawner_ once connect() has returned.
class LocalEngine final : public Engine {
 public:
  explicit LocalEngine(LocalOptions options)
      : options_{plain_paths(std::move(options))},
        folders_{options_.state_folder, options_.runtime_folder},
        hardware_{options_.simulate, options_.nvml_library},
        spawner_{options_.shim_path, options_.cgroup_parent},
        abilities_{spawner_.start()} {}

  ~LocalEngine() override {
    chores_.reset();
    ending_ = true;
    poller_.wake_up();
    if (thread_.joinable()) thread_.join();
  }

  std::string kind() const override { return "local"; }

  EngineTraits traits() const override {
    EngineTraits traits;
    traits.places_device = true;
    if (!abilities_) {
      traits.notes.push_back(abilities_.error().message);
      return traits;
    }
    traits.isolates_jobs = abilities_->isolates;
    traits.limits_memory = abilities_->isolates && abilities_->limits_memory;
    traits.limits_processes = abilities_->isolates && abilities_->limits_processes;
    if (!abilities_->isolates) traits.notes.emplace_back(kNotSeparated);
    for (const std::string& note : abilities_->notes)
      if (note != kNotSeparated) traits.notes.push_back(note);
    traits.notes.emplace_back(kFencedNot);
    traits.notes.emplace_back(kNotWiped);
    return traits;
  }

  void set_wake(std::function<void()> wake) override {
    const std::lock_guard lock{mutex_};
    wake_ = std::move(wake);
  }

  Result<Done> connect(std::int64_t epoch, const std::vector<Allocation>& live) override {
    if (!abilities_) return abilities_.error();
    const Result<Done> prepared = folders_.prepare();
    if (!prepared) return prepared;
    Result<std::vector<FoundNode>> nodes = hardware_.scan();
    if (!nodes) return nodes.error();
    note_nodes(std::move(*nodes));
    runs_.emplace(
        Runs::Setting{folders_, hardware_, poller_, spawner_, order_settings(), refusal(),
                      options_.now, [this](Report report) { fresh_.push_back(std::move(report)); },
                      [this](const std::string& folder) { watches_.folder_made(folder); }});
    const Result<Done> connected = runs_->connect(epoch, live);
    if (!connected) return connected;
    thread_ = std::thread{[this] { work(); }};
    chores_.emplace(options_.rescan, [this] { rescan(); });
    return Done{};
  }

  void start(std::vector<StartOrder> orders) override {
    post([this, orders = std::move(orders)] { runs_->start(orders); });
  }
  void stop(AllocationId allocation, Duration grace) override {
    post([this, allocation, grace] { runs_->stop(allocation, grace); });
  }
  void forget(AllocationId allocation) override {
    post([this, allocation] { runs_->forget(allocation); });
  }

  std::vector<Report> take_reports() override {
    const std::lock_guard lock{mutex_};
    return std::exchange(reports_, {});
  }

  Result<LogPage> read_log(const LogQuery& query) override {
    return local::read_log(folders_.log(query.workload, query.attempt, query.replica), query);
  }

  std::unique_ptr<LogWatch> watch_log(const LogQuery& query, std::function<void()> grown) override {
    auto follower = std::make_shared<LogWatches::Follower>(
        folders_.log(query.workload, query.attempt, query.replica), std::move(grown));
    post([this, follower] { watches_.add(follower); });
    return std::make_unique<Watch>(follower);
  }

  void discard(WorkloadId workload) override {
    if (chores_) chores_->add([this, workload] { folders_.discard(workload); });
  }

 private:
  OrderSettings order_settings() const {
    return {options_.shim_path,   options_.cgroup_parent,     suffix_of(options_.state_folder),
            abilities_->isolates, options_.log_segment_bytes, options_.log_segments};
  }

  std::string refusal() const {
    if (abilities_->isolates || options_.allow_unisolated) return {};
    return "Jobs on this machine cannot be separated from each other, so none is started. Start "
           "heddled as root, or with --allow-unisolated if you trust all code that runs here.";
  }

  void post(std::function<void()> command) {
    {
      const std::lock_guard lock{mutex_};
      commands_.push_back(std::move(command));
    }
    poller_.wake_up();
  }

  void work() {
    hand_over();
    while (!ending_) {
      poller_.wait();
      std::deque<std::function<void()>> commands;
      {
        const std::lock_guard lock{mutex_};
        commands.swap(commands_);
      }
      for (const auto& command : commands) command();
      runs_->flush();
      hand_over();
    }
  }

  // Makes the reports of this turn visible, in order, and wakes control once.
  void hand_over() {
    if (fresh_.empty()) return;
    std::function<void()> wake;
    {
      const std::lock_guard lock{mutex_};
      for (Report& report : fresh_) reports_.push_back(std::move(report));
      wake = wake_;
    }
    fresh_.clear();
    if (wake) wake();
  }

  // On the chores' thread: a sick driver may take its time.
  void rescan() {
    Result<std::vector<FoundNode>> nodes = hardware_.scan();
    if (nodes) post([this, found = std::move(*nodes)] { note_nodes(found); });
  }

  void note_nodes(std::vector<FoundNode> nodes) {
    std::string now_seen;
    for (const FoundNode& node : nodes) {
      now_seen += node.name + "|" + node.device_model + "\n";
      for (const FoundDevice& device : node.devices)
        now_seen += device.uuid + (device.health == DeviceHealth::kSick ? " sick\n" : "\n");
    }
    if (now_seen == last_seen_) return;
    last_seen_ = std::move(now_seen);
    fresh_.push_back(ReportNodes{std::move(nodes)});
  }

  const LocalOptions options_;
  const Folders folders_;
  Hardware hardware_;
  SpawnerLink spawner_;
  const Result<shim::FoundAbilities> abilities_;
  Poller poller_;
  LogWatches watches_{poller_};
  std::optional<Runs> runs_;
  std::vector<Report> fresh_;  // of the engine's thread
  std::string last_seen_;
  std::atomic<bool> ending_ = false;

  std::mutex mutex_;  // guards the following
  std::function<void()> wake_;
  std::deque<std::function<void()>> commands_;
  std::vector<Report> reports_;

  std::thread thread_;
  std::optional<Chores> chores_;
};

}  // namespace

std::unique_ptr<Engine> make_local_engine(LocalOptions options) {
  return std::make_unique<LocalEngine>(std::move(options));
}

}  // namespace heddle::local
