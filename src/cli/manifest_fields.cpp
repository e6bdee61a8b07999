#include "cli/manifest_fields.h"

namespace heddle::cli {
namespace {

struct Field {
  std::string_view pointer;  // `*` stands for any one part
  Holds holds;
};

// The WorkloadCreate of openapi/heddle.yaml, and `from` of our own.
constexpr Field kFields[] = {
    {"", Holds::kObject},
    {"/name", Holds::kText},
    {"/team", Holds::kText},
    {"/project", Holds::kText},
    {"/kind", Holds::kText},
    {"/class", Holds::kText},
    {"/priority", Holds::kNumber},
    {"/command", Holds::kList},
    {"/command/*", Holds::kText},
    {"/env", Holds::kObject},
    {"/env/*", Holds::kText},
    {"/files", Holds::kList},
    {"/files/*", Holds::kObject},
    {"/files/*/path", Holds::kText},
    {"/files/*/from", Holds::kText},
    {"/files/*/content", Holds::kText},
    {"/files/*/content_base64", Holds::kText},
    {"/files/*/executable", Holds::kSwitch},
    {"/resources", Holds::kObject},
    {"/resources/gpus", Holds::kNumber},
    {"/resources/gpu", Holds::kNumber},
    {"/resources/gpu_memory", Holds::kText},
    {"/resources/devices", Holds::kNumber},
    {"/resources/cpus", Holds::kNumber},
    {"/resources/memory", Holds::kText},
    {"/nodes", Holds::kNumber},
    {"/procs_per_node", Holds::kNumber},
    {"/pools", Holds::kList},
    {"/pools/*", Holds::kText},
    {"/time_limit", Holds::kText},
    {"/grace", Holds::kText},
    {"/retries", Holds::kNumber},
};

std::string_view next_part(std::string_view& pointer) {
  if (!pointer.empty()) pointer.remove_prefix(1);
  const auto end = pointer.find('/');
  const std::string_view part = pointer.substr(0, end);
  pointer.remove_prefix(end == std::string_view::npos ? pointer.size() : end);
  return part;
}

bool matches(std::string_view pattern, std::string_view pointer) {
  while (!pattern.empty() && !pointer.empty()) {
    const std::string_view wanted = next_part(pattern);
    const std::string_view given = next_part(pointer);
    if (wanted != "*" && wanted != given) return false;
  }
  return pattern.empty() && pointer.empty();
}

}  // namespace

Holds what_holds(std::string_view pointer) {
  for (const Field& field : kFields)
    if (matches(field.pointer, pointer)) return field.holds;
  return Holds::kUnknown;
}

std::vector<std::string> fields_at(std::string_view pointer) {
  std::vector<std::string> names;
  for (const Field& field : kFields) {
    const auto slash = field.pointer.rfind('/');
    if (slash == std::string_view::npos || !matches(field.pointer.substr(0, slash), pointer))
      continue;
    if (const std::string_view name = field.pointer.substr(slash + 1); name != "*")
      names.emplace_back(name);
  }
  return names;
}

}  // namespace heddle::cli
