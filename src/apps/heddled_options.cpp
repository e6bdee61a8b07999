#include "apps/heddled_options.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace heddle {
namespace {

bool is_loopback(const std::string& listen) {
  return listen.starts_with("127.") || listen.starts_with("[::1]:") ||
         listen.starts_with("localhost:");
}

}  // namespace

std::optional<HeddledOptions> parse_heddled_options(int argc, char** argv, int& exit_code) {
  HeddledOptions options;
  CLI::App app{"heddled: shares the GPUs of this machine among teams"};
  app.set_version_flag("--version", HEDDLE_VERSION);
  app.add_option("--state", options.state, "folder of everything that is kept")
      ->capture_default_str();
  app.add_option("--listen", options.listen, "address:port, port 0 takes a free one")
      ->capture_default_str();
  app.add_option("--simulate", options.simulate,
                 "simulated GPUs, such as 2x8:H100-80GB (two nodes of eight)");
  app.add_option("--host", options.hosts, "further host name under which clients reach the server");
  app.add_option("--shim", options.shim, "path of heddle-shim (default: beside this program)");
  app.add_option("--nvml", options.nvml, "library that knows the GPUs")->capture_default_str();
  app.add_option("--http-threads", options.http_threads, "threads that serve requests")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_flag("--allow-unisolated", options.allow_unisolated,
               "run jobs although this machine cannot keep teams apart");
  app.add_flag("--insecure-listen", options.insecure_listen,
               "listen on an address that others can reach, without encryption");
  app.add_flag("--confirm-clock", options.confirm_clock,
               "the wall clock of this machine is right, go by it");
  app.add_flag("--new-admin-token", options.new_admin_token,
               "make another token of the first administrator, into STATE/admin.token");
  bool print = false;
  app.add_flag("--print-config", print, "print what the flags come to, and end");
  auto* backup = app.add_subcommand("backup", "write everything into one file, also while serving");
  backup->add_option("FILE", options.file, "the file to write; must not exist")->required();
  auto* restore = app.add_subcommand("restore", "put a backup in place; no server may be running");
  restore->add_option("FILE", options.file, "the file to read")->required();
  for (auto* sub : {backup, restore}) sub->fallthrough();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error) == 0 ? 0 : 2;
    return std::nullopt;
  }
  const bool has_port = options.listen.find(':') != std::string::npos;  // else refused when opened
  if (has_port && !is_loopback(options.listen) && !options.insecure_listen) {
    std::fprintf(stderr,
                 "error: --listen %s can be reached from other machines, and the connection would "
                 "not be encrypted.\n  next: --listen 127.0.0.1:7070, or add --insecure-listen\n",
                 options.listen.c_str());
    exit_code = 2;
    return std::nullopt;
  }
  if (*backup) options.task = HeddledOptions::Task::kBackup;
  if (*restore) options.task = HeddledOptions::Task::kRestore;
  if (print) options.task = HeddledOptions::Task::kPrintConfig;
  return options;
}

}  // namespace heddle
