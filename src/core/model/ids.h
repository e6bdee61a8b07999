// The kinds of ids, each with its two-letter prefix.
#pragma once

#include <string_view>

#include "base/id.h"

namespace heddle {

struct TeamTag {
  static constexpr std::string_view kPrefix = "tm";
};
struct UserTag {
  static constexpr std::string_view kPrefix = "us";
};
struct TokenTag {
  static constexpr std::string_view kPrefix = "tk";
};
struct SiteTag {
  static constexpr std::string_view kPrefix = "st";
};
struct PoolTag {
  static constexpr std::string_view kPrefix = "pl";
};
struct NodeTag {
  static constexpr std::string_view kPrefix = "nd";
};
struct DeviceTag {
  static constexpr std::string_view kPrefix = "dv";
};
struct WorkloadTag {
  static constexpr std::string_view kPrefix = "wl";
};
struct AllocationTag {
  static constexpr std::string_view kPrefix = "al";
};

using TeamId = Id<TeamTag>;
using UserId = Id<UserTag>;
using TokenId = Id<TokenTag>;
using SiteId = Id<SiteTag>;
using PoolId = Id<PoolTag>;
using NodeId = Id<NodeTag>;
using DeviceId = Id<DeviceTag>;
using WorkloadId = Id<WorkloadTag>;
using AllocationId = Id<AllocationTag>;

}  // namespace heddle
