// HeddledOptions: what heddled was started with, checked once.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace heddle {

struct HeddledOptions {
  enum class Task { kServe, kBackup, kRestore, kPrintConfig };
  Task task = Task::kServe;
  std::string state = "state";             // folder of everything that is kept
  std::string listen = "127.0.0.1:7070";   // port 0 takes a free one
  std::string simulate;                    // such as 2x8:H100-80GB; empty: real devices
  std::string shim;                        // path of heddle-shim; empty: beside this program
  std::string nvml = "libnvidia-ml.so.1";  // library that knows the GPUs
  std::string file;                        // of backup and restore
  std::vector<std::string> hosts;          // further names under which clients may reach the server
  bool allow_unisolated = false;
  bool insecure_listen = false;
  bool confirm_clock = false;
  bool new_admin_token = false;
  int http_threads = 2;
};

// Reads the command line. When the program is to end at once (help, bad input), says what there is
// to say and gives the exit code in `exit_code`.
std::optional<HeddledOptions> parse_heddled_options(int argc, char** argv, int& exit_code);

}  // namespace heddle
