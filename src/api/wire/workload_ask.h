// WorkloadAsk: a workload as people write it, checked as far as that needs no state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/fields.h"
#include "control/command.h"

namespace heddle::api {

struct WorkloadAsk {
  std::optional<std::string> team;  // name or id
  std::optional<WorkloadClass> work_class;
  std::vector<std::string> pools;  // names or ids
  WorkloadSpec spec;               // name may be empty; shape.pools is
  std::vector<Blob> blobs;
};

// Units are parsed, bounds of core/model/limits.h are kept, defaults that need no state are filled
// in. Every fault names its field.
Result<WorkloadAsk> parse_workload(const Value& body);

}  // namespace heddle::api
