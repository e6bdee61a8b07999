// Fit: which devices of one node a replica takes, if it fits there.
#pragma once

#include <cstdint>
#include <optional>

#include "core/schedule/room.h"

namespace heddle {

// Which of the devices that would do a part of a device goes to. Fullest first keeps whole devices
// whole. Emptiest first is only for gangs whose replicas want several parts each: it places the
// most replicas on a node, where fullest first can use up the small rests in pairs that do not go
// round.
enum class Pick : std::uint8_t { kFullestFirst, kEmptiestFirst };

// What one replica of `team` takes of node `node` (an index into room.nodes); nullopt when it does
// not fit: devices free or open to the team, CPU and memory. Requests without GPUs fit only nodes
// without devices.
std::optional<Take> fit(const PoolRoom& room, const Request& request, TeamId team, Pick pick,
                        std::size_t node);

// How many replicas an empty node of that kind could hold.
std::int64_t capacity_of(const NodeKind& kind, const Request& request);

}  // namespace heddle
