// heddled: the server program.
#include <cstdio>

#include "apps/heddled_options.h"
#include "apps/serve.h"
#include "store/sqlite/backup.h"

namespace {

int say_error(const heddle::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.message.c_str());
  if (!error.next.empty()) std::fprintf(stderr, "  next: %s\n", error.next.c_str());
  return heddle::info(error.code).exit_code;
}

int make_backup(const heddle::HeddledOptions& options) {
  const auto done = heddle::write_backup(options.state, options.file);
  if (!done) return say_error(done.error());
  std::printf("Backup of %s written to %s. It holds the hashes of tokens: keep it private.\n",
              options.state.c_str(), options.file.c_str());
  return 0;
}

int restore(const heddle::HeddledOptions& options) {
  const auto report = heddle::restore_backup(options.file, options.state);
  if (!report) return say_error(report.error());
  std::printf("Restored %s into %s.\n", options.file.c_str(), options.state.c_str());
  if (!report->kept_aside.empty())
    std::printf("What was there before is kept in %s.\n", report->kept_aside.c_str());
  return 0;
}

void print_config(const heddle::HeddledOptions& o) {
  std::printf(
      "state = \"%s\"\nlisten = \"%s\"\nsimulate = \"%s\"\nshim = \"%s\"\nnvml = \"%s\"\n"
      "http_threads = %d\nallow_unisolated = %s\ninsecure_listen = %s\nconfirm_clock = %s\n",
      o.state.c_str(), o.listen.c_str(), o.simulate.c_str(), o.shim.c_str(), o.nvml.c_str(),
      o.http_threads, o.allow_unisolated ? "true" : "false", o.insecure_listen ? "true" : "false",
      o.confirm_clock ? "true" : "false");
}

}  // namespace

int main(int argc, char** argv) {
  int exit_code = 0;
  const auto options = heddle::parse_heddled_options(argc, argv, exit_code);
  if (!options) return exit_code;
  switch (options->task) {
    case heddle::HeddledOptions::Task::kServe:
      return heddle::serve(*options);
    case heddle::HeddledOptions::Task::kBackup:
      return make_backup(*options);
    case heddle::HeddledOptions::Task::kRestore:
      return restore(*options);
    case heddle::HeddledOptions::Task::kPrintConfig:
      print_config(*options);
      return 0;
  }
  return 10;
}
