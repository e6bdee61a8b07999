// What a workload asked for, as compact JSON text. Private to store/sqlite.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/workload.h"

namespace heddle::sqlite {

// Only valid UTF-8 can be read back; see is_utf8().
std::string spec_text(const WorkloadSpec& spec);
bool is_utf8(std::string_view text);

// nullptr when `text` is not what spec_text() wrote. Members that a later version added and this
// one does not know are skipped; those missing have their defaults.
std::shared_ptr<const WorkloadSpec> parse_spec_text(std::string_view text);

std::string string_list_text(const std::vector<std::string>& list);
std::optional<std::vector<std::string>> parse_string_list(std::string_view text);

}  // namespace heddle::sqlite
