#include "cli/manifest.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace heddle::cli {
namespace {

using nlohmann::json;

Result<std::vector<Manifest>> read(const std::string& text) {
  return parse_manifests(text, "job.yaml", ".");
}

json one(const std::string& text) {
  const auto manifests = read(text);
  if (!manifests) FAIL(manifests.error().message);
  REQUIRE(manifests->size() == 1);
  return json::parse(manifests->front().body);
}

std::string refusal(const std::string& text) {
  const auto manifests = read(text);
  REQUIRE_FALSE(manifests.has_value());
  return manifests.error().message;
}

// A private folder that goes when the test ends.
class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "heddle-cli-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string put(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return path_ / name;
  }
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("a job file becomes the request of the API") {
  const json body =
      one("name: digits\n"
          "command: [python3, train.py, --epochs, 5, --lr, 0.10, -v, true]\n"
          "env: {LR: 0.10, DEBUG: no, ANSWER: 042}\n"
          "resources: {gpus: 4, memory: 64GiB}\n"
          "nodes: 2\n"
          "pools: [h100]\n"
          "time_limit: 2h\n");
  CHECK(body["name"] == "digits");
  CHECK(body["command"] ==
        json({"python3", "train.py", "--epochs", "5", "--lr", "0.10", "-v", "true"}));
  CHECK(body["env"] == json({{"LR", "0.10"}, {"DEBUG", "no"}, {"ANSWER", "042"}}));
  CHECK(body["resources"] == json({{"gpus", 4}, {"memory", "64GiB"}}));
  CHECK(body["nodes"] == 2);
  CHECK(one("command: [x]\nresources: {gpu: 0.25}\n")["resources"]["gpu"].dump() == "0.25");
}

TEST_CASE("several documents stand in one file, and empty ones are none") {
  const auto manifests = read("---\ncommand: [a]\n---\n---\ncommand: [b]\n");
  REQUIRE(manifests.has_value());
  REQUIRE(manifests->size() == 2);
  CHECK(json::parse(manifests->back().body)["command"][0] == "b");
  CHECK(refusal("# nothing\n") == "job.yaml has no job in it.");
}

TEST_CASE("an unknown field is named with its line and what it could have been") {
  CHECK(refusal("name: x\ncomand: [a]\n") ==
        "job.yaml line 2: 'comand' is not a field here. Did you mean 'command'?");
  CHECK(refusal("command: [a]\nresources:\n  gpsu: 4\n").find("line 3") != std::string::npos);
  CHECK(refusal("command: [a]\nzzzzzzzzzz: 1\n").find("Known are name, team") != std::string::npos);
}

TEST_CASE("what YAML can do and a job file need not is refused with its line") {
  CHECK(refusal("a: &x [1]\n").find("line 1") != std::string::npos);
  CHECK(refusal("name: &x y\nteam: *x\n").find("anchors") != std::string::npos);
  for (const char* tagged : {"name: !!str x\n", "command: !!python/object/apply:os.system [id]\n",
                             "command: !run [id]\n", "env: !!set {A: b}\n", "!!map {name: x}\n",
                             "env: !!python/name:os.system\n"})
    CHECK(refusal(tagged).find("tags") != std::string::npos);
  CHECK(refusal("name: x\nname: y\n").find("twice") != std::string::npos);
  CHECK(refusal("name: !!binary eA==\n").find("tags") != std::string::npos);
  CHECK(refusal("command: ls -l\n").find("'command' holds a list") != std::string::npos);
}

TEST_CASE("a value of the wrong form says which form it has") {
  CHECK(refusal("name: [a]\n").find("'name' holds one value") != std::string::npos);
  CHECK(refusal("resources: [1]\n").find("'resources' holds fields") != std::string::npos);
  CHECK(refusal("env:\n- a\n").find("'env' holds fields") != std::string::npos);
  CHECK(refusal("- a\n- b\n").find("a job file holds fields") != std::string::npos);
  CHECK(refusal("just text\n").find("a job file holds fields") != std::string::npos);
  CHECK(refusal("{a: b, [c]: d}\n") != "");
  CHECK(refusal("name: x\n\tteam: y\n").find("line 2") != std::string::npos);
}

TEST_CASE("a document is bounded in depth, size and number") {
  std::string deep = "env: ";
  for (int i = 0; i < 50; ++i) deep += "{a: ";
  CHECK(refusal(deep).find("line 1") != std::string::npos);
  std::string wide = "command: [";
  for (int i = 0; i < 25'000; ++i) wide += "a, ";
  CHECK(refusal(wide + "a]\n").find("too many values") != std::string::npos);
  std::string many;
  for (int i = 0; i < 101; ++i) many += "---\ncommand: [a]\n";
  CHECK(refusal(many).find("100 documents") != std::string::npos);
}

TEST_CASE("a place in the request is found again in the file") {
  const auto manifests = read("name: x\nresources:\n  gpus: 4\nenv:\n  A: b\n");
  REQUIRE(manifests.has_value());
  const Manifest& manifest = manifests->front();
  CHECK(manifest.where("/resources/gpus") == "job.yaml line 3, /resources/gpus");
  CHECK(manifest.where("/env/A") == "job.yaml line 5, /env/A");
  CHECK(manifest.where("/command") == "job.yaml, /command");
  CHECK(manifest.where("") == "job.yaml");
}

TEST_CASE("files are embedded from beside the job file") {
  const Folder folder;
  folder.put("train.py", "print('ä')\n");
  folder.put("data.bin", std::string("\x00\xff\x01", 3));
  const std::string script = folder.put("go.sh", "#!/bin/sh\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const std::string file = folder.put("job.yaml",
                                      "command: [python3, train.py]\n"
                                      "files:\n"
                                      "- {path: train.py, from: train.py}\n"
                                      "- {path: d/data.bin, from: data.bin}\n"
                                      "- {from: go.sh}\n");
  const auto manifests = read_manifests(file);
  REQUIRE(manifests.has_value());
  const json files = json::parse(manifests->front().body)["files"];
  CHECK(files[0] ==
        json({{"path", "train.py"}, {"content", "print('ä')\n"}, {"executable", false}}));
  CHECK(files[1]["content_base64"] == "AP8B");
  CHECK(files[2] == json({{"path", "go.sh"}, {"content", "#!/bin/sh\n"}, {"executable", true}}));
}

TEST_CASE("a file that is not there, or too large, is named with its line") {
  const Folder folder;
  const std::string missing =
      folder.put("a.yaml", "command: [a]\nfiles:\n- {path: x, from: nothing}\n");
  const auto first = read_manifests(missing);
  REQUIRE_FALSE(first.has_value());
  CHECK(first.error().message.find("a.yaml line 3: ") != std::string::npos);
  CHECK(first.error().message.find("No such file") != std::string::npos);
  folder.put("big", std::string(600 * 1024, 'x'));
  const auto second =
      read_manifests(folder.put("b.yaml", "command: [a]\nfiles:\n- {path: x, from: big}\n"));
  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().message.find("larger than 512 KiB") != std::string::npos);
}

}  // namespace heddle::cli
