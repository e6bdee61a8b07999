// Manifest: job files in YAML, as the request that the API takes.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace heddle::cli {

struct Manifest {
  std::string body;                  // JSON of one WorkloadCreate
  std::map<std::string, int> lines;  // JSON pointer -> line in the file
  std::string file;

  // `train.yaml line 4, /resources/gpus`: where the reader finds what a pointer names.
  std::string where(std::string_view pointer) const;
};

// Bounds, checked while reading.
inline constexpr std::size_t kManifestBytes = 1024 * 1024;
inline constexpr std::size_t kManifestDepth = 8;
inline constexpr std::size_t kManifestValues = 20'000;
inline constexpr std::size_t kManifestDocuments = 100;
inline constexpr std::size_t kEmbeddedBytes = 512 * 1024;

// All documents of a file (`-`: standard input). The fields are those of the API, and
// `files: [{path: train.py, from: ./train.py}]` embeds a local file, named from the YAML file's
// folder. Anchors, aliases, tags, doubled and unknown fields are errors that name the line.
Result<std::vector<Manifest>> read_manifests(const std::string& path);

// The same from a text; `folder` is where `from` starts.
Result<std::vector<Manifest>> parse_manifests(const std::string& text, const std::string& file,
                                              const std::string& folder);

// One entry of `files` as JSON, with the content of a local file. Text stays text, everything else
// goes as base64.
Result<std::string> embedded_file(const std::string& source, const std::string& path);

}  // namespace heddle::cli
