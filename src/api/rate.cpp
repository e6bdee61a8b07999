#include "api/rate.h"

#include <algorithm>

namespace heddle::api {

void RateLimiter::fill(Bucket& bucket, Instant now) const {
  // No more than a minute's worth, so the product stays small; a bucket is full long before.
  const std::int64_t gone_ms = std::clamp<std::int64_t>((now - bucket.at).ms, 0, 60'000);
  bucket.milli = std::min(bucket.milli + gone_ms * rate_.per_second, rate_.burst * 1000);
  bucket.at = now;
}

bool RateLimiter::allow(const std::string& key, Instant now) {
  const std::lock_guard lock{mutex_};
  auto at = buckets_.find(key);
  if (at == buckets_.end()) {
    if (buckets_.size() >= keys_max_) {
      for (auto& [other, bucket] : buckets_) fill(bucket, now);
      std::erase_if(buckets_,
                    [&](const auto& entry) { return entry.second.milli == rate_.burst * 1000; });
      if (buckets_.size() >= keys_max_) return false;
    }
    at = buckets_.emplace(key, Bucket{rate_.burst * 1000, now}).first;
  }
  fill(at->second, now);
  if (at->second.milli < 1000) return false;
  at->second.milli -= 1000;
  return true;
}

bool RateLimiter::would_allow(const std::string& key, Instant now) {
  const std::lock_guard lock{mutex_};
  const auto at = buckets_.find(key);
  if (at == buckets_.end()) return true;
  fill(at->second, now);
  return at->second.milli >= 1000;
}

}  // namespace heddle::api
