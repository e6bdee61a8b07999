#include "api/wire/workload_ask.h"

#include <algorithm>
#include <set>

#include "api/digest.h"
#include "api/wire/names.h"
#include "base/units.h"
#include "core/model/limits.h"

namespace heddle::api {
namespace {

using Kind = Value::Kind;

constexpr std::size_t kFilePathBytes = 1024;

bool is_env_name(std::string_view text) {
  if (text.empty() || text.size() > 128 || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Relative, in plain characters; no part is empty, '.' or '..' (or only dots).
bool is_file_path(std::string_view path) {
  if (path.empty() || path.size() > kFilePathBytes) return false;
  while (true) {
    const auto end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    if (part.empty() || part.size() > 255 || part.find_first_not_of('.') == part.npos) return false;
    for (const char c : part) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (!plain && std::string_view{"_.+@=, -"}.find(c) == std::string_view::npos) return false;
    }
    if (end == path.size()) return true;
    path.remove_prefix(end + 1);
  }
}

std::optional<std::int64_t> memory(Fields& fields, std::string_view name, std::int64_t high) {
  const auto text = fields.text(name, 64, TextKind::kLabel);
  if (!text) return std::nullopt;
  const auto bytes = parse_memory(*text, high);
  if (bytes) return *bytes;
  fields.faults().add(fields.at(name), bytes.error());
  return std::nullopt;
}

std::optional<Duration> duration(Fields& fields, std::string_view name, Duration low,
                                 Duration high) {
  const auto text = fields.text(name, 64, TextKind::kLabel);
  if (!text) return std::nullopt;
  const auto span = parse_duration(*text, low, high);
  if (span) return *span;
  fields.faults().add(fields.at(name), span.error());
  return std::nullopt;
}

void read_command(Fields& fields, std::vector<std::string>& command) {
  fields.require("command");
  const Value* value = fields.take("command");
  if (value == nullptr) return;
  Faults& faults = fields.faults();
  const std::string at = fields.at("command");
  if (!value->is(Kind::kArray))
    return faults.add(at, "wrong_type", "must be a list of texts", given_text(*value));
  if (value->items.empty() || value->items.size() > limits::kCommandArgs)
    return faults.add(at, "out_of_range", "must hold 1 to 1024 texts");
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < value->items.size(); ++i) {
    const Value& item = value->items[i];
    const std::string here = joined(at, std::to_string(i));
    if (!item.is(Kind::kString))
      return faults.add(here, "wrong_type", "must be text", given_text(item));
    const std::string_view fault =
        text_fault(item.text, limits::kCommandBytes, TextKind::kArgument);
    if (!fault.empty())
      return faults.add(here, std::string{fault}, "holds what is not allowed there");
    if (i == 0 && item.text.empty())
      return faults.add(here, "empty", "is empty: the first is the program");
    bytes += item.text.size() + 1;
    command.push_back(item.text);
  }
  if (bytes > limits::kCommandBytes) faults.add(at, "too_long", "must be at most 64 KiB in all");
}

void read_env(Fields& fields, std::vector<std::pair<std::string, std::string>>& env) {
  const Value* value = fields.take("env");
  if (value == nullptr) return;
  Faults& faults = fields.faults();
  const std::string at = fields.at("env");
  if (!value->is(Kind::kObject))
    return faults.add(at, "wrong_type", "must be an object", given_text(*value));
  if (value->members.size() > limits::kEnvVars)
    return faults.add(at, "out_of_range", "must hold at most 256 names");
  std::size_t bytes = 0;
  for (const JsonMember& member : value->members) {
    const std::string here = joined(at, member.name);
    if (!is_env_name(member.name))
      return faults.add(here, "bad_name", "must be a name of letters, digits and '_'");
    if (member.name.starts_with("HEDDLE_"))
      return faults.add(here, "reserved", "is a name that Heddle sets itself");
    if (!member.value.is(Kind::kString))
      return faults.add(here, "wrong_type", "must be text", given_text(member.value));
    const std::string_view fault =
        text_fault(member.value.text, limits::kEnvBytes, TextKind::kArgument);
    if (!fault.empty())
      return faults.add(here, std::string{fault}, "holds what is not allowed there");
    bytes += member.name.size() + member.value.text.size() + 2;
    env.emplace_back(member.name, member.value.text);
  }
  if (bytes > limits::kEnvBytes) faults.add(at, "too_long", "must be at most 64 KiB in all");
  std::sort(env.begin(), env.end());
}

// The content of one file; nullopt when it is wrong.
std::optional<std::string> read_content(Fields& file) {
  if (file.has("content") && file.has("content_base64")) {
    file.faults().add(file.at("content_base64"), "conflicting", "cannot be given beside content");
    file.take("content");
    file.take("content_base64");
    return std::nullopt;
  }
  if (!file.has("content_base64")) {
    file.require("content");
    return file.text("content", limits::kFilesBytes, TextKind::kContent);
  }
  const auto text = file.text("content_base64", limits::kFilesBytes / 3 * 4 + 4, TextKind::kLabel);
  if (!text) return std::nullopt;
  auto bytes = from_base64(*text);
  if (!bytes) file.faults().add(file.at("content_base64"), "bad_base64", "is not base64");
  return bytes;
}

// True if one path is the other, or a folder above it.
bool clashes(const std::set<std::string>& paths, const std::string& path) {
  if (paths.contains(path)) return true;
  for (auto slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1))
    if (paths.contains(path.substr(0, slash))) return true;
  const auto below = paths.lower_bound(path + "/");
  return below != paths.end() && below->starts_with(path + "/");
}

void read_files(Fields& fields, WorkloadAsk& ask) {
  const Value* value = fields.take("files");
  if (value == nullptr) return;
  Faults& faults = fields.faults();
  const std::string at = fields.at("files");
  if (!value->is(Kind::kArray))
    return faults.add(at, "wrong_type", "must be a list", given_text(*value));
  if (value->items.size() > limits::kFiles)
    return faults.add(at, "out_of_range", "must hold at most 64 files");
  std::size_t bytes = 0;
  std::set<std::string> paths;
  for (std::size_t i = 0; i < value->items.size(); ++i) {
    Fields file{value->items[i], joined(at, std::to_string(i)), faults};
    file.require("path");
    const auto path = file.text("path", kFilePathBytes, TextKind::kLabel);
    auto content = read_content(file);
    const bool executable = file.flag("executable").value_or(false);
    file.finish();
    if (!path || !content) continue;
    if (!is_file_path(*path)) {
      faults.add(file.at("path"), "bad_path", "must be a plain relative path", *path);
      continue;
    }
    if (clashes(paths, *path)) {
      faults.add(file.at("path"), "duplicate_path", "is there already", *path);
      continue;
    }
    paths.insert(*path);
    bytes += content->size();
    std::string digest = sha256_hex(*content);
    ask.spec.files.push_back(
        {*path, digest, static_cast<std::int64_t>(content->size()), executable});
    ask.blobs.push_back({std::move(digest), std::move(*content)});
  }
  if (bytes > limits::kFilesBytes) faults.add(at, "too_long", "must be at most 512 KiB in all");
}

void read_resources(Fields& fields, Request& request) {
  request = {1, GpuAmount::kMilliPerDevice, 0, 0, 0};
  const Value* value = fields.take("resources");
  if (value == nullptr) return;
  Faults& faults = fields.faults();
  Fields asked{*value, fields.at("resources"), faults};
  std::string_view form;
  for (const std::string_view name : {"gpus", "gpu", "gpu_memory"}) {
    if (!asked.has(name)) continue;
    if (!form.empty())
      faults.add(asked.at(name), "conflicting", "cannot be given beside " + std::string{form});
    form = name;
  }
  if (const auto gpus = asked.whole("gpus", 0, limits::kDevicesPerReplica))
    request = {*gpus, *gpus > 0 ? GpuAmount::kMilliPerDevice : 0, 0, 0, 0};
  if (const auto part = asked.thousandths("gpu", 1, GpuAmount::kMilliPerDevice - 1))
    request = {1, *part, 0, 0, 0};
  if (const auto bytes = memory(asked, "gpu_memory", limits::kDeviceMemoryMib << 20))
    request = {1, 0, (*bytes + (1 << 20) - 1) >> 20, 0, 0};
  if (asked.has("devices") && form != "gpu" && form != "gpu_memory")
    faults.add(asked.at("devices"), "conflicting", "goes with gpu or gpu_memory only");
  if (const auto devices = asked.whole("devices", 1, limits::kDevicesPerReplica))
    request.devices = *devices;
  if (const auto cpus = asked.thousandths("cpus", 1, limits::kCpuMilli)) request.cpu_milli = *cpus;
  if (const auto bytes = memory(asked, "memory", limits::kMemoryBytes))
    request.memory_bytes = *bytes;
  asked.finish();
}

void read_pools(Fields& fields, std::vector<std::string>& pools) {
  const Value* value = fields.take("pools");
  if (value == nullptr) return;
  Faults& faults = fields.faults();
  const std::string at = fields.at("pools");
  if (!value->is(Kind::kArray))
    return faults.add(at, "wrong_type", "must be a list of names", given_text(*value));
  if (value->items.size() > limits::kPoolsPerRequest)
    return faults.add(at, "out_of_range", "must hold at most 16 pools");
  for (std::size_t i = 0; i < value->items.size(); ++i) {
    const Value& item = value->items[i];
    const std::string here = joined(at, std::to_string(i));
    if (!item.is(Kind::kString) || !is_reference(item.text))
      return faults.add(here, "bad_name", "must be the name or id of a pool", given_text(item));
    if (std::find(pools.begin(), pools.end(), item.text) != pools.end())
      return faults.add(here, "duplicate", "is named twice", item.text);
    pools.push_back(item.text);
  }
}

WorkloadClass class_of(WorkloadKind kind) {
  switch (kind) {
    case WorkloadKind::kJob:
      return WorkloadClass::kTraining;
    case WorkloadKind::kWorkspace:
      return WorkloadClass::kDevelopment;
    case WorkloadKind::kService:
      return WorkloadClass::kDevelopment;
  }
  return WorkloadClass::kTraining;
}

}  // namespace

Result<WorkloadAsk> parse_workload(const Value& body) {
  Faults faults;
  Fields fields{body, "", faults};
  WorkloadAsk ask;
  WorkloadSpec& spec = ask.spec;
  spec.name = fields.name("name").value_or("");
  ask.team = fields.reference("team");
  spec.project = fields.text("project", limits::kDisplayBytes, TextKind::kLabel).value_or("");
  if (const auto kind = fields.choice("kind", wire::kWorkloadKinds))
    spec.kind = static_cast<WorkloadKind>(*kind);
  if (const auto work_class = fields.choice("class", wire::kWorkloadClasses))
    ask.work_class = static_cast<WorkloadClass>(*work_class);
  spec.work_class = ask.work_class.value_or(class_of(spec.kind));
  spec.priority = fields.whole("priority", -limits::kPriority, limits::kPriority).value_or(0);
  read_command(fields, spec.command);
  read_env(fields, spec.env);
  read_files(fields, ask);
  read_resources(fields, spec.shape.request);
  spec.shape.replicas = fields.whole("nodes", 1, limits::kReplicas).value_or(1);
  spec.procs_per_node = fields.whole("procs_per_node", 1, limits::kProcsPerNode).value_or(1);
  read_pools(fields, ask.pools);
  if (const auto span = duration(fields, "time_limit", Duration::seconds(1),
                                 Duration::millis(limits::kRunTimeMs)))
    spec.time_limit = *span;
  if (const auto span = duration(fields, "grace", {}, Duration::millis(limits::kGraceMs)))
    spec.grace = *span;
  spec.retries = fields.whole("retries", 0, 100).value_or(0);
  fields.finish({"id", "state", "owner", "owner_id", "team_id", "version", "created_at",
                 "updated_at", "can", "cost_micros", "attempt", "gpu_milli", "pool_id", "end",
                 "reason"});
  if (!faults.empty()) return faults.error();
  return ask;
}

}  // namespace heddle::api
