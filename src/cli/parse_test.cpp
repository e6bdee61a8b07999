#include "cli/parse.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "cli/completion.h"
#include "cli/config/files.h"
#include "cli/help.h"

namespace heddle::cli {
namespace {

using Words = std::vector<std::string>;

Parsed good(const Words& words) {
  auto parsed = parse(words);
  if (!parsed) FAIL(parsed.error().message);
  return *parsed;
}

Error bad(const Words& words) {
  auto parsed = parse(words);
  REQUIRE_FALSE(parsed.has_value());
  return parsed.error();
}

}  // namespace

TEST_CASE("flags, places and the program behind -- are told apart") {
  const Parsed parsed = good({"run", "--gpus", "4", "--env", "A=1", "--env=B=2", "--detach", "-q",
                              "--", "python3", "train.py", "--gpus", "8"});
  CHECK(parsed.command->path == "run");
  CHECK(parsed.arguments.value("gpus") == "4");
  CHECK(parsed.arguments.values("env") == Words{"A=1", "B=2"});
  CHECK(parsed.arguments.has("detach"));
  CHECK(parsed.arguments.has("quiet"));
  CHECK_FALSE(parsed.arguments.has("name"));
  CHECK(parsed.arguments.program == Words{"python3", "train.py", "--gpus", "8"});
  CHECK(good({"run", "--priority", "-5", "--", "x"}).arguments.value("priority") == "-5");
}

TEST_CASE("a bare plural lists, a verb goes deeper, a singular will do") {
  CHECK(good({"teams"}).command->path == "teams");
  CHECK(good({"teams", "create", "vision"}).command->path == "teams create");
  CHECK(good({"team", "create", "vision"}).command->path == "teams create");
  CHECK(good({"node", "show", "h1"}).command->path == "nodes show");
  CHECK(good({"members", "vision"}).arguments.places == Words{"vision"});
  CHECK(good({"guarantee"}).command == nullptr);
  CHECK(good({"guarantee"}).group == "guarantee");
}

TEST_CASE("flags of every command may stand before it") {
  const Parsed parsed = good({"--server", "http://a", "-o", "json", "ps", "--all"});
  CHECK(parsed.command->path == "ps");
  CHECK(parsed.arguments.value("server") == "http://a");
  CHECK(parsed.arguments.value("output") == "json");
}

TEST_CASE("names that look like flags come behind --") {
  CHECK(good({"show", "--", "--help"}).arguments.places == Words{"--help"});
  CHECK(good({"cancel", "a", "--", "-b"}).arguments.places == Words{"a", "-b"});
}

TEST_CASE("a mistake names the word and what to type next") {
  CHECK(bad({"lgos", "x"}).message == "'lgos' is not a command of heddle. Did you mean 'logs'?");
  CHECK(bad({"run", "--gpsu", "4", "--", "x"}).message ==
        "'--gpsu' is not a flag of 'heddle run'. Did you mean '--gpus'?");
  CHECK(bad({"run", "python3", "x.py"}).next == "heddle run [flags] -- python3 ...");
  CHECK(bad({"show"}).message == "'heddle show' needs NAME.");
  CHECK(bad({"show", "a", "b"}).message == "'b' is one word too many for 'heddle show'.");
  CHECK(bad({"run", "--gpus"}).message == "--gpus needs a value: N.");
  CHECK(bad({"--nonsense"}).message == "'--nonsense' is not a flag of heddle.");
  CHECK(bad({"guarantee", "sett", "x"}).code == ErrorCode::kInvalidArgument);
}

TEST_CASE("--help wins over everything before --") {
  CHECK(good({"run", "--help"}).help);
  CHECK(good({"show", "-h"}).help);
  CHECK(good({"--help"}).help);
  CHECK_FALSE(good({"run", "--", "x", "--help"}).help);
}

TEST_CASE("the table of commands is sound") {
  const std::set<char> letters{0, 'o', 'q', 'f', 'y', 'h'};
  std::set<std::string_view> paths;
  for (const Command& command : commands()) {
    CAPTURE(command.path);
    CHECK(paths.insert(command.path).second);
    CHECK((command.run != nullptr));
    CHECK_FALSE(command.summary.empty());
    CHECK(command.examples.find("heddle") != std::string_view::npos);
    std::set<std::string_view> names;
    for (const Flag& flag : global_flags()) names.insert(flag.name);
    for (const Flag& flag : command.flags) {
      CAPTURE(flag.name);
      CHECK(names.insert(flag.name).second);
      CHECK(letters.contains(flag.letter));
      CHECK(flag.name.find('_') == std::string_view::npos);
    }
    const std::string help = help_of(command);
    for (std::size_t from = 0; from < help.size();) {
      const auto end = help.find('\n', from);
      CHECK(end - from <= 80);
      from = end + 1;
    }
  }
}

TEST_CASE("the nearest word is one or two slips away") {
  const Words words{"logs", "login", "cancel", "gpus"};
  CHECK(nearest("lgos", words) == "logs");
  CHECK(nearest("cancle", words) == "cancel");
  CHECK(nearest("gpu", words) == "gpus");
  CHECK(nearest("banana", words) == "");
  CHECK(nearest("", words) == "");
}

TEST_CASE("completion knows commands, flags, words of flags, and what the server must say") {
  const auto words = [](const Words& typed) { return complete(typed).words; };
  CHECK(std::ranges::count(words({"te"}), "teams") == 1);
  CHECK(words({"teams", "cr"}) == Words{"create"});
  CHECK(words({"run", "--gpu"}) == Words{"--gpus", "--gpu", "--gpu-memory"});
  CHECK(words({"run", "--class", "b"}) == Words{"batch"});
  CHECK(words({"ps", "-o", "js"}) == Words{"json", "jsonl"});
  CHECK(words({"completion", "z"}) == Words{"zsh"});
  CHECK(complete(Words{"show", ""}).more == Offers::kWorkload);
  CHECK(complete(Words{"run", "--team", ""}).more == Offers::kTeam);
  CHECK(complete(Words{"submit", ""}).more == Offers::kFile);
  CHECK(complete(Words{"run", "--", "py"}).more == Offers::kFile);
  for (const char* shell : {"bash", "zsh", "fish"}) CHECK_FALSE(completion_script(shell).empty());
  CHECK(completion_script("tcsh").empty());
}

}  // namespace heddle::cli
