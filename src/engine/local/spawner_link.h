// SpawnerLink: the engine's end of the spawner.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "shim/run_folder.h"
#include "shim/spawner.h"

namespace heddle::local {

// One thread.
class SpawnerLink {
 public:
  SpawnerLink(std::string shim_path, std::string cgroup_parent);
  ~SpawnerLink();  // the spawner ends, its shims go on
  SpawnerLink(const SpawnerLink&) = delete;
  SpawnerLink& operator=(const SpawnerLink&) = delete;

  // Starts a spawner, unless one is there; gives what it found out about the machine.
  Result<shim::FoundAbilities> start();
  // False when the spawner is gone: nothing of the request was or will be started by it.
  bool send(const shim::SpawnRequest& request, const std::vector<int>& connections);
  // Readable when the spawner is gone; -1 when there is none.
  int socket() const { return socket_.get(); }
  // Lets go of a spawner that is gone.
  void drop();

 private:
  std::string shim_path_;
  std::string cgroup_parent_;
  shim::Fd socket_;
  pid_t pid_ = -1;
  shim::FoundAbilities abilities_;
};

}  // namespace heddle::local
