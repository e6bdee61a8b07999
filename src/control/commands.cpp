#include "control/commands.h"

#include <string_view>

namespace heddle {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

// What the audit line says of a command: its dotted name, its kind of subject, its team.
struct AuditLine {
  std::string_view action;
  SubjectKind kind;
  std::uint64_t subject;  // when the command itself names it
  TeamId team;
};

AuditLine audit_line(const Command& command) {
  return std::visit(
      Overloaded{
          [](const CreateTeam& c) {
            return AuditLine{"team.create", SubjectKind::kTeam, 0, c.parent};
          },
          [](const UpdateTeam& c) {
            return AuditLine{"team.update", SubjectKind::kTeam, c.team.value, c.team};
          },
          [](const SetShare& c) {
            return AuditLine{"share.set", SubjectKind::kShare, c.key.team.value, c.key.team};
          },
          [](const CreateUser&) {
            return AuditLine{"user.create", SubjectKind::kUser, 0, {}};
          },
          [](const SetMember& c) {
            return AuditLine{"member.set", SubjectKind::kMember, c.user.value, c.team};
          },
          [](const RemoveMember& c) {
            return AuditLine{"member.remove", SubjectKind::kMember, c.user.value, c.team};
          },
          [](const CreateToken&) {
            return AuditLine{"token.create", SubjectKind::kToken, 0, {}};
          },
          [](const RevokeToken& c) {
            return AuditLine{"token.revoke", SubjectKind::kToken, c.token.value, {}};
          },
          [](const SetNodeState& c) {
            return AuditLine{"node.set_state", SubjectKind::kNode, c.node.value, {}};
          },
          [](const SubmitWorkload& c) {
            return AuditLine{"workload.submit", SubjectKind::kWorkload, 0, c.team};
          },
          [](const CancelWorkload& c) {
            return AuditLine{"workload.cancel", SubjectKind::kWorkload, c.workload.value, {}};
          },
      },
      command.what);
}

Result<Outcome> dispatch(Books& books, const Command& command, const CommandLimits& limits) {
  const UserId actor = command.actor.user;
  return std::visit(
      Overloaded{
          [&](const CreateTeam& c) { return create_team(books, actor, c); },
          [&](const UpdateTeam& c) { return update_team(books, actor, c); },
          [&](const SetShare& c) { return set_share(books, actor, c); },
          [&](const CreateUser& c) { return create_user(books, actor, c); },
          [&](const SetMember& c) { return set_member(books, actor, c); },
          [&](const RemoveMember& c) { return remove_member(books, actor, c); },
          [&](const CreateToken& c) { return create_token(books, actor, c, limits); },
          [&](const RevokeToken& c) { return revoke_token(books, actor, c); },
          [&](const SetNodeState& c) { return set_node_state(books, actor, c); },
          [&](const SubmitWorkload& c) { return submit_workload(books, actor, c, limits); },
          [&](const CancelWorkload& c) { return cancel_workload(books, actor, c); },
      },
      command.what);
}

bool is_dry_run(const Command& command) {
  const auto* submit = std::get_if<SubmitWorkload>(&command.what);
  return submit != nullptr && submit->dry_run;
}

}  // namespace

Error not_found(std::string_view kind) {
  Error error{ErrorCode::kNotFound, "No " + std::string{kind} + " with that name or id."};
  const bool is_work = kind.ends_with("workload");
  error.next = "heddle " + (is_work ? std::string{"ps --all"} : std::string{kind} + "s");
  return error;
}

Result<Outcome> apply(Books& books, const Command& command, const CommandLimits& limits) {
  Result<Outcome> outcome = dispatch(books, command, limits);
  if (is_dry_run(command)) return outcome;
  AuditLine line = audit_line(command);
  if (outcome) line.subject = outcome->subject;
  books.record(command.actor.user, std::string{line.action}, line.kind, line.subject, line.team,
               outcome ? "done" : std::string{info(outcome.error().code).name},
               command.actor.request_id);
  if (outcome && command.idempotency) {
    const IdempotencyKey& key = *command.idempotency;
    books.idempotency.push_back(
        {command.actor.user, key.route, key.key, key.body_sha256_hex, outcome->subject, books.now});
  }
  return outcome;
}

}  // namespace heddle
