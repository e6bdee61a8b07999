// Commands: everything that may be asked of the one writer, as plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "control/ports/store.h"
#include "core/model/ids.h"
#include "core/model/workload.h"

namespace heddle {

// Who asks. Rights are judged by control again, on the newest state.
struct Actor {
  UserId user;
  std::string request_id;
};

// Present on creates that carry an Idempotency-Key.
struct IdempotencyKey {
  std::string route;
  std::string key;
  std::string body_sha256_hex;
};

// `if_version` unset: no If-Match was given (the edge has already judged whether it must be).
struct CreateTeam {
  std::string name;
  std::string display;
  TeamId parent;
};
struct UpdateTeam {
  TeamId team;
  std::optional<std::string> name;
  std::optional<std::string> display;
  std::optional<std::int64_t> if_version;
};
struct SetShare {
  ShareKey key;
  GpuAmount guarantee;
  GpuAmount limit;
  std::int64_t weight = 1;
  std::int64_t rank = 0;
  std::optional<std::int64_t> if_version;
};
struct CreateUser {
  std::string name;
  bool admin = false;
};
struct SetMember {
  TeamId team;
  UserId user;
  Role role = Role::kViewer;
};
struct RemoveMember {
  TeamId team;
  UserId user;
};
// A token of one's own, or (administrators) of another user. The secret is made by control and
// given back once in Outcome::token_text.
struct CreateToken {
  UserId user;
  std::string name;
  Duration lives = Duration::hours(24 * 30);
};
struct RevokeToken {
  TokenId token;
};
struct SetNodeState {
  NodeId node;
  NodeState state = NodeState::kReady;  // ready or draining
  std::optional<std::int64_t> if_version;
};
// `spec` is complete and syntactically valid (limits.h); shape.pools empty means any pool that
// fits. Control checks what depends on the state: rights, unique name, pools, whether it can ever
// fit.
struct SubmitWorkload {
  TeamId team;
  std::shared_ptr<const WorkloadSpec> spec;
  std::vector<Blob> blobs;  // the content of spec->files
  bool dry_run = false;     // only say whether it would be taken
};
struct CancelWorkload {
  WorkloadId workload;
  std::optional<std::int64_t> if_version;
};

struct Command {
  Actor actor;
  std::optional<IdempotencyKey> idempotency;
  std::variant<CreateTeam, UpdateTeam, SetShare, CreateUser, SetMember, RemoveMember, CreateToken,
               RevokeToken, SetNodeState, SubmitWorkload, CancelWorkload>
      what;
};

struct Outcome {
  std::uint64_t subject = 0;  // id of what was made or changed
  bool replayed = false;      // an idempotent repetition; nothing was done again
  std::string token_text;     // CreateToken only, never for a replay
};

}  // namespace heddle
