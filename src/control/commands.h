// The use cases: what each command does to the books.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "control/books.h"
#include "control/command.h"

namespace heddle {

struct CommandLimits {
  std::int64_t live_workloads_per_team = 200'000;
  Duration token_life_max = Duration::hours(24 * 400);
};

// Judges rights and state, then writes rows, feed and audit (also the audit line of a refusal).
// The result is valid once the books are committed.
Result<Outcome> apply(Books& books, const Command& command, const CommandLimits& limits);

// One function per family; `apply` dispatches. Errors name the field by its JSON pointer.
Result<Outcome> create_team(Books& books, UserId actor, const CreateTeam& what);
Result<Outcome> update_team(Books& books, UserId actor, const UpdateTeam& what);
Result<Outcome> set_share(Books& books, UserId actor, const SetShare& what);
Result<Outcome> create_user(Books& books, UserId actor, const CreateUser& what);
Result<Outcome> set_member(Books& books, UserId actor, const SetMember& what);
Result<Outcome> remove_member(Books& books, UserId actor, const RemoveMember& what);
Result<Outcome> create_token(Books& books, UserId actor, const CreateToken& what,
                             const CommandLimits& limits);
Result<Outcome> revoke_token(Books& books, UserId actor, const RevokeToken& what);
Result<Outcome> set_node_state(Books& books, UserId actor, const SetNodeState& what);
Result<Outcome> submit_workload(Books& books, UserId actor, const SubmitWorkload& what,
                                const CommandLimits& limits);
Result<Outcome> cancel_workload(Books& books, UserId actor, const CancelWorkload& what);

// Makes a token row for `user` and gives its text, "heddle_<token id>_<64 hex digits>".
std::string make_token(Books& books, UserId user, const std::string& name, Duration lives);

// not_found in the words that strangers and members get alike; next is the command that lists what
// there is of that kind.
Error not_found(std::string_view kind);

}  // namespace heddle
