// No usable cgroups: the death of the sandbox's first process ends the tree, nothing is counted.
#include "sandbox/cgroup.h"

namespace heddle::sandbox {
namespace {

class NoCgroup final : public Cgroup {
 public:
  int clone_fd() const override { return -1; }
  Result<Done> join() override { return Done{}; }
  bool kill() override { return false; }
  CgroupUse use() const override { return {}; }
  bool remove() override { return true; }
};

}  // namespace

std::unique_ptr<Cgroup> make_no_cgroup() { return std::make_unique<NoCgroup>(); }

}  // namespace heddle::sandbox
