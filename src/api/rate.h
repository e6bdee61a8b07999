// RateLimiter: so many requests a second for each key, in bounded memory.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "base/time.h"

namespace heddle::api {

struct Rate {
  std::int64_t per_second = 1000;
  std::int64_t burst = 2000;
};

// A bucket per key that fills with time. Any thread.
class RateLimiter {
 public:
  explicit RateLimiter(Rate rate, std::size_t keys_max = 16'384)
      : rate_{rate}, keys_max_{keys_max} {}

  // True if one more is allowed now. When there is no room for a new key, full buckets go first;
  // if none is full, the key is refused.
  bool allow(const std::string& key, Instant now);
  // True if one more would be allowed; takes nothing.
  bool would_allow(const std::string& key, Instant now);

 private:
  struct Bucket {
    std::int64_t milli = 0;  // thousandths of a request
    Instant at;
  };
  void fill(Bucket& bucket, Instant now) const;

  const Rate rate_;
  const std::size_t keys_max_;
  std::mutex mutex_;
  std::map<std::string, Bucket> buckets_;
};

}  // namespace heddle::api
