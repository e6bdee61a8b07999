// Plays every scenario of tests/golden/schedule and compares what was planned with what is written
// there. HEDDLE_BLESS=1 in the environment writes what was planned into the files instead; read
// the difference before you commit it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/check/auditor.h"
#include "core/scenario/scenario.h"

namespace heddle {
namespace {

std::vector<std::filesystem::path> scenario_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{HEDDLE_GOLDEN_DIR})
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::string read(const std::filesystem::path& file) {
  std::ifstream in{file};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The same text with what the scheduler plans now below each `plan`.
std::string played(const std::string& text) {
  Scenario scenario;
  std::istringstream in{text};
  std::string out, line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.starts_with(">")) continue;
    out += line + '\n';
    if (line == "plan") {
      const Plan plan = scenario.plan_now();
      const std::vector<std::string> said = scenario.describe(plan);
      scenario.apply(plan);
      for (const std::string& one : said) out += "> " + one + '\n';
      for (const std::string& fault : audit(scenario.state())) out += "> fault: " + fault + '\n';
      continue;
    }
    const Result<Done> result = scenario.say(line);
    if (!result) out += "> line " + std::to_string(number) + ": " + result.error().message + '\n';
  }
  return out;
}

TEST_CASE("every scenario is planned as written") {
  const auto files = scenario_files();
  CHECK(files.size() >= 10);
  for (const auto& file : files) {
    CAPTURE(file.filename().string());
    const std::string written = read(file);
    const std::string now = played(written);
    if (std::getenv("HEDDLE_BLESS") != nullptr && now != written) std::ofstream{file} << now;
    CHECK(now.find("> line ") == std::string::npos);
    CHECK(now.find("> fault") == std::string::npos);
    CHECK(read(file) == now);
  }
}

}  // namespace
}  // namespace heddle
