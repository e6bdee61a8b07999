// Digests: SHA-256, keyed digests and base64, over OpenSSL.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::api {

using Sha256 = std::array<std::uint8_t, 32>;

Sha256 sha256(std::string_view bytes);
std::string sha256_hex(std::string_view bytes);
Sha256 hmac_sha256(std::string_view key, std::string_view bytes);

// Takes as long whatever differs.
bool equal_in_constant_time(const Sha256& a, const Sha256& b);

// `count` bytes that nobody can guess.
std::string random_bytes(std::size_t count);

// Strict: padding is there, no other bytes.
std::optional<std::string> from_base64(std::string_view text);

// Two lower-case digits a byte; nullopt unless `text` is exactly 64 of them.
std::optional<Sha256> from_hex(std::string_view text);
std::string to_hex(std::string_view bytes);

}  // namespace heddle::api
