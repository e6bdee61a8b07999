#include "apps/system_ids.h"

#include <openssl/sha.h>
#include <sys/random.h>

#include <algorithm>

#include "base/check.h"

namespace heddle {
namespace {

constexpr std::int64_t kStartOf2024Ms = 1'704'067'200'000;
constexpr int kLowBits = 20;

void fill_random(void* out, std::size_t size) {
  HEDDLE_CHECK(getrandom(out, size, 0) == static_cast<ssize_t>(size));
}

}  // namespace

std::uint64_t SystemIds::next(Instant now) {
  std::uint16_t step = 0;
  fill_random(&step, sizeof step);
  const std::uint64_t ms =
      static_cast<std::uint64_t>(std::max<std::int64_t>(1, now.ms - kStartOf2024Ms));
  last_ = std::max(last_ + 1 + step % 1024, (ms << kLowBits) + step % 1024);
  return last_;
}

void SystemIds::start_after(std::uint64_t last) { last_ = std::max(last_, last); }

NewSecret SystemIds::new_secret() {
  NewSecret secret;
  fill_random(secret.bytes.data(), secret.bytes.size());
  SHA256(secret.bytes.data(), secret.bytes.size(), secret.hash.data());
  return secret;
}

}  // namespace heddle
