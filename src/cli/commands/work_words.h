// Finding a workload by what people type, and the words that several commands use for it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "cli/session/session.h"

namespace heddle::cli {

// NAME, TEAM/NAME or id. Live work goes before ended work; of ended work of one team, the newest.
// A name that fits several teams' work is an error that lists them.
Result<nlohmann::json> find_work(Session& session, const std::string& typed);

// GET /v1/workloads/{id}, and the path of a part of it.
Result<nlohmann::json> read_work(Session& session, const std::string& id);
std::string work_path(const std::string& id, const std::string& part = "");

// `8`, `0.25`, `20 GiB`, `2 x 4`: what it asks for, or holds.
std::string gpus_words(const nlohmann::json& workload);
// `4 × H100-80GB on h4` is the caller's; this is `4 GPUs`, `0.25 GPU`, `20 GiB of a GPU`.
std::string asks_words(const nlohmann::json& workload);

bool has_ended(const nlohmann::json& workload);
// When it came into its present state.
Instant state_since(const nlohmann::json& workload);
// `exit 0`, `exit 1`, `signal 9`, `memory ceiling`, `cancelled`, `time limit`, ...
std::string end_words(const nlohmann::json& workload);
// A sentence about the end, with the server's message where there is one.
std::string end_sentence(const nlohmann::json& workload);
// What `run` ends with: see `heddle help exit-codes`.
int end_exit_code(const nlohmann::json& workload);

// A command line that can be pasted into a shell.
std::string shell_words(const std::vector<std::string>& command);

}  // namespace heddle::cli
