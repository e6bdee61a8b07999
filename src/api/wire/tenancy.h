// Teams, members, shares, users and tokens as the API answers them.
#pragma once

#include <string>

#include "api/json_writer.h"
#include "api/rights.h"

namespace heddle::api {

// Each writes one object, as an item or as the whole answer.
void write_team(JsonWriter& json, Rights& rights, const Team& team);
void write_member(JsonWriter& json, const State& state, Rights& rights, const Member& member);
void write_share(JsonWriter& json, const State& state, Rights& rights, ShareKey key);
void write_user(JsonWriter& json, Rights& rights, const User& user);
// `secret` is shown when it is not empty: once, in the answer to the creation.
void write_token(JsonWriter& json, Rights& rights, const Token& token, const std::string& secret);

// The version for If-Match: 0 where no share was set yet.
std::int64_t share_version(const State& state, ShareKey key);

}  // namespace heddle::api
