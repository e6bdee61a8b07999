// make_order: from what control wants to what one shim must do.
#pragma once

#include <string>

#include "base/result.h"
#include "control/ports/engine.h"
#include "engine/local/folders.h"
#include "engine/local/hardware.h"
#include "shim/order.h"

namespace heddle::local {

// What is the same for every run of one engine.
struct OrderSettings {
  std::string shim_path;
  std::string cgroup_parent;
  std::string id_suffix;  // tells the engines of one machine apart
  bool isolate = true;
  std::int64_t log_segment_bytes = 0;
  std::int64_t log_segments = 0;
};

// The host-side user of a team; not_supported above what fits below 2^31.
Result<uid_t> team_uid(std::int64_t team_slot);

// Anchors and the nonce are the caller's. Errors are sentences for people.
Result<shim::Order> make_order(const StartOrder& start, const OrderSettings& settings,
                               const Folders& folders, const Hardware& hardware);

// Empty for a replica that is alone: it gets a network of its own.
std::string network_of(const StartOrder& start, const OrderSettings& settings,
                       const Folders& folders);

}  // namespace heddle::local
