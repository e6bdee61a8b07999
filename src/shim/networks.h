// Networks: what ended runs leave for the next run of the same team, because making a network is
// the dearest part of a start.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "shim/run_folder.h"

namespace heddle::shim {

// Unused networks by team. The oldest go when there are too many. One thread; held by the spawner.
class Networks {
 public:
  static constexpr std::size_t kMax = 256;

  // One that a run of this team left, or none.
  Fd take(std::int64_t uid);
  void put(std::int64_t uid, Fd network);
  std::size_t size() const { return kept_.size(); }

 private:
  std::vector<std::pair<std::int64_t, Fd>> kept_;  // oldest first
};

// From a shim to the spawner, over a packet socket that only they share. Never blocks; a network
// that cannot be sent is simply not used again.
void send_network(int socket, uid_t uid, int network);
// Puts what has arrived into `networks`; returns when nothing more is there.
void receive_networks(int socket, Networks& networks);

}  // namespace heddle::shim
