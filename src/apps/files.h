// Small files that heddled leaves for its owner.
#pragma once

#include <string>

#include "base/result.h"

namespace heddle {

// Replaces `file` by one with this content, at once and readable by its owner only.
Result<Done> write_private_file(const std::string& file, const std::string& content);

}  // namespace heddle
