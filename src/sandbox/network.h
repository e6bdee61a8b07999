// The network of a sandbox: loopback and nothing else, its own or one shared with its gang.
#pragma once

#include <string>

#include "base/result.h"

namespace heddle::sandbox {

// Brings loopback up in the calling thread's network. All of 127.0.0.0/8 answers then.
Result<Done> raise_loopback();

// Moves the calling thread into the network pinned at `path`; refuses what is no network.
Result<Done> join_network(const std::string& path);
Result<Done> join_network(int network_fd);

}  // namespace heddle::sandbox
