// A job file in YAML, from any bytes: read within its bounds, or refused with its line.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "cli/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  // A folder that is not there: whatever `from` names, nothing of this machine is read.
  const auto read = cli::parse_manifests({reinterpret_cast<const char*>(data), size}, "job.yaml",
                                         "/nonexistent/folder");
  if (read)
    HEDDLE_CHECK(read->size() <= cli::kManifestDocuments);
  else
    HEDDLE_CHECK(!read.error().message.empty());
  return 0;
}
