#include "api/cursor.h"

#include "api/digest.h"

namespace heddle::api {
namespace {

constexpr std::size_t kKeyIdHex = 8;
constexpr std::size_t kPlaceHex = 16;
constexpr std::size_t kMacHex = 32;

std::string hex_of(std::uint64_t value) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8)
    bytes.push_back(static_cast<char>((value >> shift) & 0xff));
  return to_hex(bytes);
}

bool same(std::string_view a, std::string_view b) {
  unsigned char differs = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    differs = static_cast<unsigned char>(differs | (a[i] ^ b[i]));
  return differs == 0;
}

std::string hex_prefix(const Sha256& digest, std::size_t digits) {
  return to_hex({reinterpret_cast<const char*>(digest.data()), digits / 2});
}

}  // namespace

Seal::Seal(std::string key) : key_{std::move(key)} {
  key_id_ = hex_prefix(hmac_sha256(key_, "key id"), kKeyIdHex);
}

std::string Seal::mac(std::string_view body, UserId owner, std::string_view list) const {
  std::string bytes{body};
  bytes += "|" + owner.text() + "|";
  bytes += list;
  return hex_prefix(hmac_sha256(key_, bytes), kMacHex);
}

std::string Seal::close(std::uint64_t place, UserId owner, std::string_view list) const {
  const std::string body = key_id_ + hex_of(place);
  return body + mac(body, owner, list);
}

Result<std::uint64_t> Seal::open(std::string_view text, UserId owner, std::string_view list,
                                 const std::string& pointer) const {
  const Error bad = Error::invalid(pointer, "bad_cursor",
                                   "The cursor is not one of this list. Start from its beginning.");
  if (text.size() != kKeyIdHex + kPlaceHex + kMacHex) return bad;
  std::uint64_t place = 0;
  for (const char c : text) {
    const bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    if (!digit) return bad;
  }
  if (!same(text.substr(0, kKeyIdHex), key_id_))
    return Error{ErrorCode::kGone,
                 "The cursor is too old. List again from the beginning.",
                 {{pointer, "too_old", ""}},
                 {},
                 {}};
  const std::string_view body = text.substr(0, kKeyIdHex + kPlaceHex);
  if (!same(text.substr(body.size()), mac(body, owner, list))) return bad;
  for (const char c : text.substr(kKeyIdHex, kPlaceHex))
    place = place * 16 + static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  return place;
}

}  // namespace heddle::api
