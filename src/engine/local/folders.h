// Folders: where the local engine keeps what, and the only code that writes below a team's folders.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/ports/engine.h"

namespace heddle::local {

// RUNTIME/                               gone when the machine restarts
//   runs/<allocation>/                   a run folder (shim/run_folder.h); ours alone
//   nets/<workload>.<attempt>            networks that the replicas of a gang share
// STATE/local/
//   logs/<workload>/<attempt>.<replica>/ segments (shim/log_format.h); ours alone
//   teams/<team>/shared/                 the team's own
//   teams/<team>/work                    a folder for each workload, likewise; kept over attempts,
//                                        shared by the replicas
// Folders above a team's own let nobody list them. Any thread.
class Folders {
 public:
  // runtime_folder: empty to choose one.
  Folders(const std::string& state_folder, std::string runtime_folder);

  // Makes what is missing.
  Result<Done> prepare() const;

  std::string runs() const { return runtime_ + "/runs"; }
  std::string run(AllocationId id) const { return runs() + "/" + id.text(); }
  std::string network(WorkloadId id, std::int64_t attempt) const;
  std::string log(WorkloadId id, std::int64_t attempt, std::int64_t replica) const;
  std::string shared(TeamId id) const { return team(id) + "/shared"; }
  std::string work(TeamId team_id, WorkloadId id) const;

  Result<Done> make_log(WorkloadId id, std::int64_t attempt, std::int64_t replica) const;
  // Makes a team's folders and gives them to `uid`.
  Result<Done> make_work(TeamId team_id, WorkloadId id, uid_t uid) const;
  // Puts files into a working folder. Links in it are never followed: the team may have made them.
  Result<Done> put_files(const std::string& work, const std::vector<OrderFile>& files,
                         uid_t uid) const;
  // Deletes a workload's logs and working folder, whichever team's it is. May take long.
  void discard(WorkloadId id) const;

 private:
  std::string team(TeamId id) const { return root_ + "/teams/" + id.text(); }
  std::string works(TeamId id) const { return team(id) + "/work"; }

  std::string root_;
  std::string runtime_;
};

}  // namespace heddle::local
