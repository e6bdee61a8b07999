// Names on the wire: each enum value as the text that API, files and flags use.
#pragma once

#include <array>
#include <string_view>

namespace heddle::wire {

// Each in the order of its enum (core/model, control/ports/store.h); a test checks the lengths.
inline constexpr std::array<std::string_view, 3> kWorkloadKinds{"job", "workspace", "service"};
inline constexpr std::array<std::string_view, 4> kWorkloadClasses{"production", "training",
                                                                  "development", "batch"};
inline constexpr std::array<std::string_view, 7> kWorkloadStates{
    "waiting", "starting", "running", "stopping", "succeeded", "failed", "cancelled"};
inline constexpr std::array<std::string_view, 10> kEndCauses{
    "none",       "exited",       "signalled",   "out_of_memory", "cancelled",
    "time_limit", "start_failed", "peer_failed", "lost",          "evicted"};
inline constexpr std::array<std::string_view, 7> kAllocationStates{
    "planned", "sent", "accepted", "running", "releasing", "released", "lost"};
inline constexpr std::array<std::string_view, 3> kRoles{"viewer", "developer", "team_admin"};
inline constexpr std::array<std::string_view, 3> kNodeStates{"ready", "draining", "lost"};
inline constexpr std::array<std::string_view, 2> kDeviceHealths{"healthy", "sick"};
inline constexpr std::array<std::string_view, 10> kSubjectKinds{
    "team", "user", "member", "token", "site", "pool", "node", "share", "workload", "server"};
inline constexpr std::array<std::string_view, 3> kLogStreams{"out", "err", "heddle"};

}  // namespace heddle::wire
