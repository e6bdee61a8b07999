#include "core/schedule/reason.h"

namespace heddle {

std::string_view name_of(ReasonCode code) {
  switch (code) {
    case ReasonCode::kNone:
      return "none";
    case ReasonCode::kNotPlannedYet:
      return "not_planned_yet";
    case ReasonCode::kNoSuchPool:
      return "no_such_pool";
    case ReasonCode::kNeverFits:
      return "never_fits";
    case ReasonCode::kTeamLimit:
      return "team_limit";
    case ReasonCode::kNoFreeDevices:
      return "no_free_devices";
    case ReasonCode::kFragmented:
      return "fragmented";
    case ReasonCode::kNoFreeCpuOrMemory:
      return "no_free_cpu_or_memory";
    case ReasonCode::kBehindOthers:
      return "behind_others";
    case ReasonCode::kDeviceNotShareable:
      return "device_not_shareable";
    case ReasonCode::kStepBudget:
      return "step_budget";
  }
  return "none";
}

}  // namespace heddle
