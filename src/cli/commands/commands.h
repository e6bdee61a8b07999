// The commands, one function each; list.cpp puts them in order.
#pragma once

#include "cli/command.h"

namespace heddle::cli {

// start
Command login_command();
Command logout_command();
Command whoami_command();
Command status_command();

// work
Command run_command();
Command submit_command();
Command ps_command();
Command show_command();
Command why_command();
Command logs_command();
Command wait_command();
Command cancel_command();
Command receipt_command();
Command events_command();

// estate
Command nodes_command();
Command nodes_show_command();
Command nodes_drain_command();
Command nodes_resume_command();
Command pools_command();
Command sites_command();

// tenancy
Command teams_command();
Command teams_show_command();
Command teams_create_command();
Command teams_rename_command();
Command members_command();
Command members_add_command();
Command members_remove_command();
Command users_command();
Command users_create_command();
Command shares_command();
Command guarantee_set_command();
Command limit_set_command();
Command tokens_command();
Command tokens_create_command();
Command tokens_revoke_command();
Command audit_command();

// this program
Command config_command();
Command completion_command();
Command help_command();
Command version_command();

}  // namespace heddle::cli
