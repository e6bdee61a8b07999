#include "cli/main.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/completion.h"
#include "cli/help.h"
#include "cli/parse.h"
#include "cli/render/escape.h"
#include "cli/render/json.h"
#include "cli/session/problem.h"
#include "cli/session/session.h"

namespace heddle::cli {
namespace {

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// An error before there is a session: looks only at -o.
int fail_early(const std::vector<std::string>& words, const Error& error) {
  const auto end = std::ranges::find(words, "--");
  const auto given = [&](const char* word) { return std::find(words.begin(), end, word) != end; };
  const bool machine = given("json") || given("jsonl") || given("yaml") || given("--output=json") ||
                       given("-o=json") || given("-ojson");
  const std::string text = machine ? error_json(error, false) + "\n" : error_text(error, "", {});
  std::fputs(text.c_str(), stderr);
  // `run` passes the job's own code through, so its own errors stand above 200.
  const bool runs = !words.empty() && words.front() == "run";
  return (runs ? 200 : 0) + info(error.code).exit_code;
}

// The server is asked shortly and silently: a completion must never hang or complain.
std::vector<std::string> names_from_server(Offers offers, const Environment& environment) {
  Arguments arguments;
  arguments.flags["timeout"] = {"2s"};
  auto session = Session::start(arguments, environment);
  if (!session) return {};
  const char* target = nullptr;
  if (offers == Offers::kWorkload) target = "/v1/workloads";
  if (offers == Offers::kTeam) target = "/v1/teams";
  if (offers == Offers::kPool) target = "/v1/pools";
  if (offers == Offers::kNode) target = "/v1/nodes";
  if (offers == Offers::kUser) target = "/v1/users";
  if (target == nullptr) return {};
  const auto list = (*session)->list(target, 200);
  if (!list) return {};
  std::vector<std::string> names;
  for (const auto& item : part(*list, "items")) names.push_back(safe(text(item, "name")));
  return names;
}

int offer(std::vector<std::string> words, const Environment& environment) {
  if (!words.empty() && words.front() == "--") words.erase(words.begin());
  Offered offered = complete(words);
  if (offered.more == Offers::kFile && offered.words.empty()) {
    print(":files\n");
    return 0;
  }
  if (offered.more != Offers::kNothing && offered.more != Offers::kFile)
    for (std::string& name : names_from_server(offered.more, environment))
      if (words.empty() || name.starts_with(words.back())) offered.words.push_back(std::move(name));
  for (const std::string& word : offered.words) print(word + "\n");
  return 0;
}

int run_words(const std::vector<std::string>& words, const Environment& environment) {
  if (!words.empty() && words.front() == "__complete")
    return offer({words.begin() + 1, words.end()}, environment);
  const auto parsed = parse(words);
  if (!parsed) return fail_early(words, parsed.error());
  if (parsed->command == nullptr) {
    print(parsed->group.empty() ? help_overview() : help_of_group(parsed->group));
    return 0;
  }
  if (parsed->help) {
    print(help_of(*parsed->command));
    return 0;
  }
  const std::string help = "heddle " + std::string(parsed->command->path) + " --help";
  const auto needs = parsed->command->needs_setup ? Needs::kSetup : Needs::kNothing;
  auto session = Session::start(parsed->arguments, environment, needs);
  if (!session) return fail_early(words, with_next(session.error(), help));
  (*session)->name_help(help);
  return parsed->command->run(**session, parsed->arguments);
}

}  // namespace

int run_heddle(const std::vector<std::string>& words, const Environment& environment) {
  const int code = run_words(words, environment);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  // What was asked for may be done; a script must not take half an answer for a whole one.
  Error error{ErrorCode::kStorageFull, "the output could not be written, or only in part."};
  error.next = "make room where it goes; what was changed on the server stays changed";
  const int failed = fail_early(words, error);
  return code == 0 ? failed : code;
}

}  // namespace heddle::cli
