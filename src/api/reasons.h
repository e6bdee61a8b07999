// Reasons in words: why something waits, what would help. The only place where those sentences are
// made; command line and portal show them as they are.
#pragma once

#include <string>

#include "api/json_writer.h"
#include "core/model/state.h"
#include "core/schedule/reason.h"

namespace heddle::api {

struct ReasonWords {
  std::string sentence;  // ends with a full stop
  std::string next;      // may be empty
};

// Of other teams only sums appear.
ReasonWords words_for(const State& state, const Workload& workload, const Reason& reason);

// The reason as an object, under `name` or as an item when `name` is empty.
void write_reason(JsonWriter& json, std::string_view name, const State& state,
                  const Workload& workload, const Reason& reason);

}  // namespace heddle::api
