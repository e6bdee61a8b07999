// Counters: how many answers each route gave, by class of status.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heddle::api {

struct Route;

// Any thread.
struct Counters {
  static constexpr std::size_t kRoutesMax = 64;
  // Index 0 is for requests that named no route.
  std::array<std::array<std::atomic<std::uint64_t>, 6>, kRoutesMax> answers{};

  void count(const Route* route, int status);
};

}  // namespace heddle::api
