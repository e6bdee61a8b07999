// Teams, the people in them, their roles and tokens.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>

#include "base/time.h"
#include "core/model/ids.h"

namespace heddle {

// A level of the tenancy tree. `parent` unset: directly below the organisation.
struct Team {
  TeamId id;
  TeamId parent;
  std::string name;       // [a-z0-9-], 1..63, unique
  std::string display;    // any UTF-8, at most 256 bytes
  std::int64_t slot = 0;  // 1.., unique for ever; engines derive the team's uid range from it
  Instant created_at;
  Instant updated_at;
  std::int64_t version = 1;  // grows with each change, for If-Match
  friend bool operator==(const Team&, const Team&) = default;
};

// A person or a service. An administrator may do everything everywhere.
struct User {
  UserId id;
  std::string name;  // [a-z0-9-], 1..63, unique
  bool admin = false;
  Instant created_at;
  Instant updated_at;
  std::int64_t version = 1;
  friend bool operator==(const User&, const User&) = default;
};

// viewer: state and metrics, no logs, commands or environment. developer: runs work.
// team admin: members and shares below.
enum class Role : std::uint8_t { kViewer, kDeveloper, kTeamAdmin };
inline constexpr int kRoleCount = 3;

struct MemberKey {
  TeamId team;
  UserId user;
  friend constexpr auto operator<=>(const MemberKey&, const MemberKey&) = default;
};

struct Member {
  MemberKey key;
  Role role = Role::kViewer;
  Instant since;
  friend bool operator==(const Member&, const Member&) = default;
};

// What proves who asks. The secret itself is never stored: `hash` is SHA-256 of its 32 bytes.
struct Token {
  TokenId id;
  UserId user;
  std::string name;
  std::array<std::uint8_t, 32> hash{};
  Instant created_at;
  Instant expires_at;
  Instant revoked_at;  // unset while it works
  friend bool operator==(const Token&, const Token&) = default;
};

}  // namespace heddle
