#include "api/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "base/check.h"

namespace heddle::api {
namespace {

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

int value_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Sha256 sha256(std::string_view bytes) {
  Sha256 out{};
  unsigned int size = 0;
  HEDDLE_CHECK(EVP_Digest(bytes.data(), bytes.size(), out.data(), &size, EVP_sha256(), nullptr) ==
               1);
  return out;
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back(kHex[byte >> 4]);
    out.push_back(kHex[byte & 15]);
  }
  return out;
}

std::string sha256_hex(std::string_view bytes) {
  const Sha256 digest = sha256(bytes);
  return to_hex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

Sha256 hmac_sha256(std::string_view key, std::string_view bytes) {
  Sha256 out{};
  unsigned int size = 0;
  HEDDLE_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(bytes),
                    bytes.size(), out.data(), &size) != nullptr);
  return out;
}

bool equal_in_constant_time(const Sha256& a, const Sha256& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string random_bytes(std::size_t count) {
  std::string out(count, '\0');
  HEDDLE_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(count)) ==
               1);
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  text.remove_suffix(padding);
  std::string out;
  out.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int value = value_of(c);
    if (value < 0) return std::nullopt;
    bits = ((bits << 6) | static_cast<std::uint32_t>(value)) & 0xffffff;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out.push_back(static_cast<char>((bits >> held) & 0xff));
  }
  return out;
}

std::optional<Sha256> from_hex(std::string_view text) {
  Sha256 out{};
  if (text.size() != 2 * out.size()) return std::nullopt;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = hex_value(text[2 * i]);
    const int low = hex_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return out;
}

}  // namespace heddle::api
