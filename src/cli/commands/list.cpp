#include "cli/commands/commands.h"

namespace heddle::cli {

std::span<const Command> commands() {
  static const std::vector<Command> kCommands{
      login_command(),
      logout_command(),
      whoami_command(),
      status_command(),
      run_command(),
      submit_command(),
      ps_command(),
      show_command(),
      why_command(),
      logs_command(),
      wait_command(),
      cancel_command(),
      receipt_command(),
      events_command(),
      nodes_command(),
      nodes_show_command(),
      nodes_drain_command(),
      nodes_resume_command(),
      pools_command(),
      sites_command(),
      teams_command(),
      teams_show_command(),
      teams_create_command(),
      teams_rename_command(),
      members_command(),
      members_add_command(),
      members_remove_command(),
      users_command(),
      users_create_command(),
      shares_command(),
      guarantee_set_command(),
      limit_set_command(),
      tokens_command(),
      tokens_create_command(),
      tokens_revoke_command(),
      audit_command(),
      config_command(),
      completion_command(),
      help_command(),
      version_command(),
  };
  return kCommands;
}

}  // namespace heddle::cli
