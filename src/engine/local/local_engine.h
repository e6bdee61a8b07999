// The local engine: sandboxed processes on this one machine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/time.h"
#include "control/ports/engine.h"

namespace heddle::local {

struct LocalOptions {
  std::string state_folder;  // absolute; logs and working folders lie below STATE/local
  // What is known of live runs. Empty: a folder of its own in memory (below /run or /dev/shm), or
  // in the state folder where there is none. It need not outlive the machine: nothing that runs
  // does, and memory is quicker than a disk.
  std::string runtime_folder;
  std::string shim_path;  // the program heddle-shim, absolute
  // Simulated nodes, such as 2x8:H100-80GB (two nodes of eight); several separated by commas.
  // Empty: the GPUs that NVML shows, else one node without any.
  std::string simulate;
  bool allow_unisolated = false;  // run also where the machine cannot separate jobs
  std::function<Instant()> now;   // the server's time line; any thread
  std::string nvml_library = "libnvidia-ml.so.1";
  std::string cgroup_parent = "heddle";
  std::int64_t log_segment_bytes = 8 << 20;  // a replica keeps log_segments of these
  std::int64_t log_segments = 2;
  Duration rescan = Duration::seconds(30);  // how often the GPUs are looked at again
};

// Never null. What is wrong with the options or the machine comes back from connect(); jobs that it
// cannot separate from each other are refused unless allow_unisolated. Destroying the engine leaves
// its jobs running: the next engine on the same folder takes them over.
std::unique_ptr<Engine> make_local_engine(LocalOptions options);

}  // namespace heddle::local
