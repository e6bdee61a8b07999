// Kept ends: how a run ended, beside its log, long after the ledger has it.
#pragma once

#include <optional>
#include <string>

#include "shim/exit_record.h"

namespace heddle::local {

// A ledger that was restored from a backup does not know what came after it: it orders runs again
// that are long over. A log folder belongs to one (workload, attempt, replica), so what lies in it
// answers such an order, whatever allocation it is for. It goes when the log goes. Any thread.

// Does nothing for a run that never began, and nothing without a folder. Not flushed, and a failure
// is let go: all this is only for the day of a restore.
void keep_end(const std::string& log_folder, const shim::ExitRecord& exit);

// nullopt when that run has not ended. A damaged record stands for a run that was lost.
std::optional<shim::ExitRecord> kept_end(const std::string& log_folder);

}  // namespace heddle::local
