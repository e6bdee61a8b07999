#include "api/token_check.h"

#include "api/digest.h"

namespace heddle::api {
namespace {

struct TokenText {
  TokenId id;
  Sha256 secret{};
};

bool is_bearer(std::string_view scheme) {
  constexpr std::string_view kBearer = "bearer ";
  if (scheme.size() != kBearer.size()) return false;
  for (std::size_t i = 0; i < scheme.size(); ++i)
    if ((scheme[i] | 0x20) != (kBearer[i] | 0x20)) return false;
  return true;
}

// "Bearer heddle_<id>_<64 hex>"; nullopt for everything else.
std::optional<TokenText> parse(std::string_view header) {
  if (header.size() < 7 || !is_bearer(header.substr(0, 7))) return std::nullopt;
  header.remove_prefix(7);
  constexpr std::string_view kStart = "heddle_";
  if (!header.starts_with(kStart)) return std::nullopt;
  header.remove_prefix(kStart.size());
  const auto split = header.rfind('_');
  if (split == std::string_view::npos) return std::nullopt;
  const auto id = TokenId::parse(header.substr(0, split));
  const auto secret = from_hex(header.substr(split + 1));
  if (!id || !secret) return std::nullopt;
  return TokenText{*id, *secret};
}

}  // namespace

bool is_valid(const State& state, const Principal& principal, Instant now) {
  const Token* token = state.tokens().find(principal.token);
  return token != nullptr && token->user == principal.user && !token->revoked_at.is_set() &&
         (!token->expires_at.is_set() || now < token->expires_at) &&
         state.users().contains(principal.user);
}

std::optional<Principal> TokenCheck::check(const State& state, std::string_view authorization,
                                           Instant now) {
  const auto text = parse(authorization).value_or(TokenText{});
  ++hashes_;
  const Sha256 hash =
      sha256({reinterpret_cast<const char*>(text.secret.data()), text.secret.size()});
  const Token* token = state.tokens().find(text.id);
  // All zeros is the hash of no secret that anybody could find.
  const Sha256 expected = token != nullptr ? token->hash : Sha256{};
  if (!equal_in_constant_time(hash, expected) || token == nullptr) return std::nullopt;
  const Principal principal{token->user, token->id};
  if (!is_valid(state, principal, now)) return std::nullopt;
  return principal;
}

}  // namespace heddle::api
