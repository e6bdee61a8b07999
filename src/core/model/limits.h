// The stated maximum of every quantity; checked where it enters, relied on in the arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::limits {

inline constexpr std::int64_t kNameBytes = 63;
inline constexpr std::int64_t kDisplayBytes = 256;
inline constexpr std::int64_t kDevicesPerReplica = 512;
inline constexpr std::int64_t kReplicas = 4096;
inline constexpr std::int64_t kProcsPerNode = 512;
inline constexpr std::int64_t kPriority = 1'000'000;         // from minus to plus
inline constexpr std::int64_t kWeight = 1'000'000;           // 1..
inline constexpr std::int64_t kRank = 1'000'000;             // from minus to plus
inline constexpr std::int64_t kGpuMilli = 1'000'000'000;     // a million devices
inline constexpr std::int64_t kMemoryBytes = 1LL << 50;      // one pebibyte
inline constexpr std::int64_t kDeviceMemoryMib = 1LL << 24;  // 16 TiB on one device
inline constexpr std::int64_t kCpuMilli = 1'000'000'000;
inline constexpr std::int64_t kRunTimeMs = 366LL * 24 * 3'600'000;
inline constexpr std::int64_t kGraceMs = 3'600'000;
inline constexpr std::int64_t kPriceMicros = 1'000'000'000'000;  // a million units per GPU-hour
inline constexpr std::size_t kCommandArgs = 1024;
inline constexpr std::size_t kCommandBytes = 64 * 1024;
inline constexpr std::size_t kEnvVars = 256;
inline constexpr std::size_t kEnvBytes = 64 * 1024;
inline constexpr std::size_t kFiles = 64;
inline constexpr std::size_t kFilesBytes = 512 * 1024;
inline constexpr std::size_t kPoolsPerRequest = 16;

}  // namespace heddle::limits
