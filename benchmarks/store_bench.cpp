// heddle_bench_store: how fast the SQLite store is, beside the disk and plain SQLite.
//
//   heddle_bench_store                       figures, one JSON object a line
//   heddle_bench_store fill FOLDER [ENDED LIVE]   work for a server that starts there later
//   heddle_bench_store raw FOLDER ROWS BATCH      plain SQLite alone: {"rows_per_s",
//   "commit_p50_ms"}
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "raw_sqlite.h"
#include "store/sqlite/sqlite_store.h"
#include "store_fill.h"
#include "timing.h"

namespace heddle::bench {
namespace {

namespace fs = std::filesystem;

// True if ./bench was asked for a figure of this name (or for everything).
bool wanted(std::string_view name) {
  const char* names = std::getenv("HEDDLE_BENCH_FIGURES");
  const std::string_view all = names != nullptr ? names : "";
  if (all.find_first_not_of(' ') == all.npos) return true;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find(' ', at), all.size());
    const std::string_view one = all.substr(at, end - at);
    if (!one.empty() && (name.starts_with(one) || one.starts_with(name))) return true;
    at = end + 1;
  }
  return false;
}

template <class T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

// A folder of its own, gone at the end.
class Folder {
 public:
  Folder() {
    path_ = fs::temp_directory_path() / "heddle-bench-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) {
      std::perror(path_.c_str());
      std::exit(1);
    }
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void measure_disk(const std::string& folder) {
  const int file = open((folder + "/plain").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  const std::array<char, 4096> page{};
  std::vector<double> times;
  for (int n = 0; n < 200; ++n) {
    const Stopwatch one;
    if (write(file, page.data(), page.size()) < 0 || fdatasync(file) != 0) std::exit(1);
    times.push_back(one.ms());
  }
  close(file);
  std::printf("{\"name\":\"store.fdatasync_p50_ms\",\"value\":%.4f,\"unit\":\"ms\"}\n",
              median(times));
}

Batch submits(std::int64_t epoch, std::int64_t number, std::int64_t first, std::int64_t count) {
  Batch batch;
  batch.epoch = epoch;
  batch.batch_id = number;
  batch.clock = {{1'764'530'000'000}, 1, "bench"};
  for (std::int64_t id = first; id < first + count; ++id) {
    Workload w = a_job({static_cast<std::uint64_t>(id)}, {2}, {4}, WorkloadState::kWaiting);
    batch.feed.push_back({id, w.submitted_at, w.team, SubjectKind::kWorkload, w.id.value,
                          "submitted", w.spec->name});
    batch.audit.push_back({id, w.submitted_at, w.owner, "workload.submit", SubjectKind::kWorkload,
                           w.id.value, w.team, "done", "rq_" + std::to_string(id)});
    batch.changes.puts.emplace_back(std::move(w));
  }
  return batch;
}

double our_rows_per_s(const std::string& folder, const RawRun& run) {
  fs::remove_all(folder + "/ours");
  const auto store = make_sqlite_store({.folder = folder + "/ours", .file_layer = {}});
  const std::int64_t epoch = must(store->open()).epoch;
  const Stopwatch whole;
  double making_ms = 0;
  std::int64_t number = 0;
  for (std::int64_t id = 1; id <= run.rows; id += run.batch) {
    const Stopwatch making;
    const Batch batch = submits(epoch, ++number, id, run.batch);
    making_ms += making.ms();
    must(store->commit(batch));
  }
  return static_cast<double>(run.rows) / ((whole.ms() - making_ms) / 1000);
}

void measure_commits(const std::string& folder) {
  for (const std::int64_t size : {1, 8, 64, 512}) {
    const std::string name = "store.submits_per_s_batch_" + std::to_string(size);
    if (!wanted(name)) continue;
    const RawRun run{.rows = size * (size < 64 ? 300 : 100), .batch = size};
    std::vector<double> ours;
    std::vector<double> raw;
    // In turn, so that a disk that is busy for a while slows both.
    for (int n = 0; n < 3; ++n) {
      ours.push_back(our_rows_per_s(folder, run));
      raw.push_back(write_raw(folder, run).rows_per_s);
    }
    std::printf(
        "{\"name\":\"%s\",\"value\":%.1f,\"unit\":\"1/s\",\"peer\":\"plain SQLite, the same rows "
        "in the same batches: %.1f/s\",\"ratio\":%.3f}\n",
        name.c_str(), median(ours), median(raw), median(ours) / median(raw));
  }
}

struct PageCase {
  const char* name;
  EndedQuery query;
};

// Pages all over the list, the slowest kind of question counts.
void measure_pages(const std::string& folder) {
  const auto store = make_sqlite_store({.folder = folder + "/full", .file_layer = {}});
  const State state = fill(*store, {});
  std::vector<PageCase> cases{
      {"one team", {}}, {"all teams", {}}, {"one name", {}}, {"failed", {}}};
  for (const auto& [id, team] : state.teams())
    for (PageCase& one : cases)
      if (&one != cases.data() || one.query.teams.empty()) one.query.teams.push_back(id);
  cases[2].query.name = "train-3";
  cases[3].query.state = WorkloadState::kFailed;
  double worst = 0;
  std::string said;
  for (PageCase& one : cases) {
    std::vector<double> times;
    for (std::uint64_t n = 0; n < 200; ++n) {
      one.query.below = {n == 0 ? 0 : 200'000 + n * 7919 % 800'000};
      const Stopwatch page;
      const auto rows = must(store->ended_workloads(one.query));
      times.push_back(page.ms());
      if (rows.size() != 100) {
        std::fprintf(stderr, "a page of '%s' has %zu rows\n", one.name, rows.size());
        std::exit(1);
      }
    }
    said +=
        (said.empty() ? "" : ", ") + std::string{one.name} + " " + std::to_string(median(times));
    worst = std::max(worst, median(times));
  }
  std::printf(
      "{\"name\":\"list.page_ms\",\"value\":%.4f,\"unit\":\"ms\",\"note\":\"100 of 1,000,000 ended "
      "beside 100,000 live, read from the store, the slowest of: %s\"}\n",
      worst, said.c_str());
  const Stopwatch restart;
  const auto loaded = must(store->open());
  std::fprintf(stderr, "open with all of that: %.0f ms, %zu live\n", restart.ms(),
               loaded.state.workloads().size());
}

int run(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "fill" && (argc == 3 || argc == 5)) {
    const auto store = make_sqlite_store({.folder = argv[2], .file_layer = {}});
    FillOptions options;
    if (argc == 5) options = {std::atoll(argv[3]), std::atoll(argv[4])};
    fill(*store, options);
    return 0;
  }
  if (what == "raw" && argc == 5) {
    const RawResult result = write_raw(argv[2], {std::atoll(argv[3]), std::atoll(argv[4])});
    std::printf("{\"rows_per_s\":%.1f,\"commit_p50_ms\":%.4f}\n", result.rows_per_s,
                result.commit_p50_ms);
    return 0;
  }
  if (argc > 1) {
    std::fprintf(stderr, "usage: %s [fill FOLDER [ENDED LIVE] | raw FOLDER ROWS BATCH]\n", argv[0]);
    return 2;
  }
  const Folder folder;
  if (wanted("store.fdatasync_p50_ms")) measure_disk(folder.path());
  measure_commits(folder.path());
  if (wanted("list.page_ms")) measure_pages(folder.path());
  return 0;
}

}  // namespace
}  // namespace heddle::bench

int main(int argc, char** argv) { return heddle::bench::run(argc, argv); }
