// Scenario: a small world for the scheduler, written line by line in plain text. For tests.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/model/draft.h"
#include "core/schedule/plan.h"

namespace heddle {

// The language (tests/golden/schedule/README.md has examples):
//
//   pool NAME NODESxDEVICES [memory SIZE] [cpu CORES] [ram SIZE]
//   node NAME ready|draining|lost             nodes are called POOL-1, POOL-2 ...
//   sick NODE DEVICE                          devices of a node are counted from 0
//   team NAME [below TEAM] [guarantee N] [limit N] [weight N] [rank N] [pool NAME]
//   share TEAM POOL [guarantee N] [limit N] [weight N] [rank N]
//   policy [share_devices_across_teams] [steps N]
//   job NAME TEAM [gpus N] [gpu FRACTION] [memory SIZE] [devices N] [nodes N] [cpu CORES]
//       [ram SIZE] [class CLASS] [priority N] [pools A,B]
//   end JOB                                   it has ended, its devices are free
//
// Amounts of GPU are decimals with at most three places, sizes are whole numbers with MiB or GiB. A
// team's numbers are for the first pool unless another is named; a job accepts every pool unless
// some are named. Time goes on by a second with each line.
class Scenario {
 public:
  // What is wrong with the line, in words, is the error. Empty lines and lines from # on are fine.
  Result<Done> say(std::string_view line);

  const State& state() const { return draft_.state(); }
  Draft& draft() { return draft_; }
  const SchedulePolicy& policy() const { return policy_; }

  Plan plan_now() const;
  // Starts what the plan says; the workloads run from then on.
  void apply(const Plan& plan);
  // One line for each start, then one for each reason.
  std::vector<std::string> describe(const Plan& plan) const;

 private:
  class Words;
  Result<Done> say_pool(Words& words);
  Result<Done> say_node(Words& words);
  Result<Done> say_sick(Words& words);
  Result<Done> say_team(Words& words);
  Result<Done> say_share(Words& words);
  Result<Done> say_policy(Words& words);
  Result<Done> say_job(Words& words);
  Result<Done> say_end(Words& words);
  Result<Done> read_share(Words& words, TeamId team, PoolId pool, bool pool_may_follow);
  std::string place_text(const Placement& placement) const;
  std::string numbers_text(const ReasonKey& key, const Reason& reason) const;

  Draft draft_{State{}};
  SchedulePolicy policy_;
  std::uint64_t last_id_ = 0;
  Instant now_{1'000'000};
};

// Applies a plan as control would: one allocation for each placement, workloads starting. Ids are
// counted up from `last_id`.
void apply_plan(Draft& draft, const Plan& plan, Instant now, std::uint64_t& last_id);

}  // namespace heddle
