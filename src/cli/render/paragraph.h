// A label and its text, wrapped at words below itself.
#pragma once

#include <string>
#include <string_view>

#include "cli/render/table.h"

namespace heddle::cli {

// `note     box: Shares of a GPU are counted, ...`, each line ending in '\n'. The text may be
// hostile: it is escaped. The label is padded by the caller. In plain look nothing is wrapped.
std::string paragraph(std::string_view label, std::string_view text, const Look& look);

}  // namespace heddle::cli
