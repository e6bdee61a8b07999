#include "shim/order.h"

#include <limits>
#include <optional>

#include "shim/record.h"

namespace heddle::shim {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kPathBytes = 4096;
constexpr std::size_t kListItems = 4096;  // as many as a gang has replicas

void add_program(Record& record, const sandbox::Spec& spec) {
  record.add("id", spec.id);
  record.add("cgroup_parent", spec.cgroup_parent);
  for (const std::string& arg : spec.argv) record.add("arg", arg);
  for (const std::string& variable : spec.env) record.add("env", variable);
  record.add("workdir", spec.workdir);
  record.add("hostname", spec.hostname);
  record.add_number("uid", spec.uid);
  record.add_number("gid", spec.gid);
  record.add("user_name", spec.user_name);
  record.add("home", spec.home);
  for (const sandbox::Mount& mount : spec.mounts) {
    record.add("mount_source", mount.source);
    record.add("mount_target", mount.target);
    record.add("mount_mode", mount.writable ? "rw" : "ro");
  }
  for (const sandbox::DeviceNode& device : spec.devices) {
    record.add("device_host", device.host_path);
    record.add("device_path", device.path);
  }
  for (const auto& [name, address] : spec.hosts) {
    record.add("host_name", name);
    record.add("host_address", address);
  }
  record.add("join_network", spec.join_network);
  record.add_number("memory_bytes", spec.memory_bytes);
  record.add_number("processes", spec.processes);
  record.add_number("cpu_weight", spec.cpu_weight);
  record.add_number("tmp_bytes", spec.tmp_bytes);
  record.add_number("open_files", spec.open_files);
}

bool read_lists(RecordReader& reader, sandbox::Spec& spec) {
  const auto sources = reader.list("mount_source", 64);
  const auto targets = reader.list("mount_target", 64);
  const auto modes = reader.list("mount_mode", 64);
  const auto device_hosts = reader.list("device_host", 1024);
  const auto device_paths = reader.list("device_path", 1024);
  const auto names = reader.list("host_name", kListItems);
  const auto addresses = reader.list("host_address", kListItems);
  if (sources.size() != targets.size() || sources.size() != modes.size() ||
      device_hosts.size() != device_paths.size() || names.size() != addresses.size())
    return false;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (modes[i] != "rw" && modes[i] != "ro") return false;
    spec.mounts.push_back({sources[i], targets[i], modes[i] == "rw"});
  }
  for (std::size_t i = 0; i < device_hosts.size(); ++i)
    spec.devices.push_back({device_hosts[i], device_paths[i]});
  for (std::size_t i = 0; i < names.size(); ++i) spec.hosts.emplace_back(names[i], addresses[i]);
  return true;
}

void read_program(RecordReader& reader, sandbox::Spec& spec) {
  spec.id = reader.text("id", 64);
  spec.cgroup_parent = reader.text("cgroup_parent", 64);
  spec.argv = reader.list("arg", 2048);
  spec.env = reader.list("env", 1024);
  spec.workdir = reader.text("workdir", kPathBytes);
  spec.hostname = reader.text("hostname", 256);
  constexpr std::int64_t kMaxUid = (1LL << 32) - 2;
  spec.uid = static_cast<uid_t>(reader.number("uid", 0, kMaxUid));
  spec.gid = static_cast<gid_t>(reader.number("gid", 0, kMaxUid));
  spec.user_name = reader.text("user_name", 256);
  spec.home = reader.text("home", kPathBytes);
  spec.join_network = reader.text("join_network", kPathBytes);
  spec.memory_bytes = reader.number("memory_bytes", 0, kMax);
  spec.processes = reader.number("processes", 1, kMax);
  spec.cpu_weight = reader.number("cpu_weight", 1, 10'000);
  spec.tmp_bytes = reader.number("tmp_bytes", 0, kMax);
  spec.open_files = reader.number("open_files", 1, kMax);
}

}  // namespace

std::string Order::encode() const {
  Record record;
  record.add_number("allocation", static_cast<std::int64_t>(identity.allocation));
  record.add_number("attempt", identity.attempt);
  record.add_number("epoch", identity.epoch);
  record.add("nonce", identity.nonce);
  record.add_number("isolate", isolate ? 1 : 0);
  record.add_number("anchor_instant_ms", anchor_instant_ms);
  record.add_number("anchor_boot_ms", anchor_boot_ms);
  record.add("anchor_boot", anchor_boot);
  record.add("log_folder", log_folder);
  record.add_number("log_segment_bytes", log_segment_bytes);
  record.add_number("log_segments", log_segments);
  add_program(record, program);
  return record.encode("order", kVersion);
}

Result<Order> Order::parse(std::string_view bytes) {
  const Result<Record> record = Record::parse(bytes, "order", kVersion);
  if (!record) return record.error();
  RecordReader reader{*record};
  Order order;
  order.identity.allocation = static_cast<std::uint64_t>(
      reader.number("allocation", std::numeric_limits<std::int64_t>::min(), kMax));
  order.identity.attempt = reader.number("attempt", 0, kMax);
  order.identity.epoch = reader.number("epoch", 0, kMax);
  order.identity.nonce = reader.text("nonce", 64);
  order.isolate = reader.number("isolate", 0, 1) == 1;
  order.anchor_instant_ms = reader.number("anchor_instant_ms", 0, kMax / 4);
  order.anchor_boot_ms = reader.number("anchor_boot_ms", 0, kMax / 4);
  order.anchor_boot = reader.text("anchor_boot", 64);
  order.log_folder = reader.text("log_folder", kPathBytes);
  order.log_segment_bytes = reader.number("log_segment_bytes", 4096, 1LL << 40);
  order.log_segments = reader.number("log_segments", 1, 1024);
  read_program(reader, order.program);
  const bool lists = read_lists(reader, order.program);
  if (!reader.ok()) return reader.error();
  if (!lists || order.program.argv.empty())
    return Error{
        ErrorCode::kInvalidArgument, "This record is damaged: its lists do not match.", {}, {}, {}};
  return order;
}

}  // namespace heddle::shim
