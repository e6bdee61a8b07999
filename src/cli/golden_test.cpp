// Help texts and tables against tests/golden/cli. HEDDLE_BLESS=1 writes them anew; read the diff.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/command.h"
#include "cli/completion.h"
#include "cli/help.h"

namespace heddle::cli {
namespace {

void matches(const std::string& name, const std::string& text) {
  CAPTURE(name);
  const std::filesystem::path path = std::filesystem::path(HEDDLE_CLI_GOLDEN_DIR) / name;
  if (std::getenv("HEDDLE_BLESS") != nullptr) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream golden;
  golden << file.rdbuf();
  CHECK(golden.str() == text);
}

}  // namespace

TEST_CASE("golden: help of heddle as a whole, of every command and of every topic") {
  matches("help.txt", help_overview());
  std::string all;
  for (const Command& command : commands())
    all += "== heddle " + std::string(command.path) + "\n" + help_of(command) + "\n";
  matches("help_commands.txt", all);
  std::string topics;
  for (const std::string& topic : help_topics())
    topics += "== heddle help " + topic + "\n" + help_topic(topic) + "\n";
  matches("help_topics.txt", topics);
}

TEST_CASE("golden: completion scripts") {
  for (const char* shell : {"bash", "zsh", "fish"})
    matches(std::string("completion.") + shell, completion_script(shell));
}

}  // namespace heddle::cli
