// SystemIds: ids that grow with time, secrets from the kernel.
#pragma once

#include "control/ports/id_source.h"

namespace heddle {

// An id is ms since 2024 in the upper bits over 20 bits that start at random and step by a random
// amount, so that ids tell nothing of how much others create. 41 bits of ms last until 2093.
class SystemIds : public IdSource {
 public:
  std::uint64_t next(Instant now) override;
  void start_after(std::uint64_t last) override;
  NewSecret new_secret() override;

 private:
  std::uint64_t last_ = 0;
};

}  // namespace heddle
