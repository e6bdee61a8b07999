// TokenCheck: who holds this token? The same work for a right, a wrong and an unknown one.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/model/state.h"

namespace heddle::api {

struct Principal {
  UserId user;
  TokenId token;
};

// True while the token is neither revoked nor expired and its user exists.
bool is_valid(const State& state, const Principal& principal, Instant now);

// Any thread.
class TokenCheck {
 public:
  // `authorization` is the header's value. nullopt for whatever is not a valid token, without
  // telling which; each call hashes once and compares once.
  std::optional<Principal> check(const State& state, std::string_view authorization, Instant now);

  std::uint64_t hashes() const { return hashes_; }

 private:
  std::atomic<std::uint64_t> hashes_{0};
};

}  // namespace heddle::api
