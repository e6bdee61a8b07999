// What `run` and `submit` share: defaults, the plan before Enter.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.h"
#include "cli/session/session.h"

namespace heddle::cli {

// Puts team, project, class and pool of the settings where the body has none.
void add_defaults(Session& session, nlohmann::json& body);

// What the server would do with it (dry_run), or why it would refuse.
Result<nlohmann::json> preview_of(Session& session, const nlohmann::json& body);

// Submits it; an answer that there is no such team names the one that was meant.
Result<nlohmann::json> submit_work(Session& session, const nlohmann::json& body);

// The plan for people: what it asks for, what it costs, its class and team with their sources, and
// what could end it early.
std::string preview_text(Session& session, const nlohmann::json& preview);

}  // namespace heddle::cli
