#include "sandbox/device_program.h"

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "sandbox/descriptor.h"
#include "sandbox/failure.h"

namespace heddle::sandbox {
namespace {

// Registers by their part in the program; r1 holds the context on entry.
constexpr std::uint8_t kResult = BPF_REG_0, kContext = BPF_REG_1, kType = BPF_REG_2,
                       kMajor = BPF_REG_3, kMinor = BPF_REG_4;

bpf_insn instruction(int code, std::uint8_t to, std::uint8_t from, std::int16_t offset,
                     std::int32_t value) {
  bpf_insn made{};
  made.code = static_cast<std::uint8_t>(code);
  made.dst_reg = to & 0xf;
  made.src_reg = from & 0xf;
  made.off = offset;
  made.imm = value;
  return made;
}

bpf_insn load_word(std::uint8_t to, std::size_t offset) {
  return instruction(BPF_LDX | BPF_MEM | BPF_W, to, kContext, static_cast<std::int16_t>(offset), 0);
}

bpf_insn skip_unless_equal(std::uint8_t reg, std::int64_t value, std::int16_t skip) {
  return instruction(BPF_JMP | BPF_JNE | BPF_K, reg, 0, skip, static_cast<std::int32_t>(value));
}

void append_return(std::vector<bpf_insn>& program, int value) {
  program.push_back(instruction(BPF_ALU64 | BPF_MOV | BPF_K, kResult, 0, 0, value));
  program.push_back(instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0));
}

// The type is in the low half of access_type; what is asked for (read, write, mknod) above it.
std::vector<bpf_insn> program_for(const std::vector<DeviceRule>& rules) {
  std::vector<bpf_insn> program;
  program.push_back(load_word(kType, offsetof(bpf_cgroup_dev_ctx, access_type)));
  program.push_back(instruction(BPF_ALU | BPF_AND | BPF_K, kType, 0, 0, 0xffff));
  program.push_back(load_word(kMajor, offsetof(bpf_cgroup_dev_ctx, major)));
  program.push_back(load_word(kMinor, offsetof(bpf_cgroup_dev_ctx, minor)));
  for (const DeviceRule& rule : rules) {
    const bool any_minor = rule.minor < 0;
    const auto rest = static_cast<std::int16_t>(any_minor ? 2 : 3);
    program.push_back(skip_unless_equal(kType,
                                        rule.block ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR,
                                        static_cast<std::int16_t>(rest + 1)));
    program.push_back(skip_unless_equal(kMajor, rule.major, rest));
    if (!any_minor) program.push_back(skip_unless_equal(kMinor, rule.minor, 2));
    append_return(program, 1);
  }
  append_return(program, 0);
  return program;
}

long bpf(int command, bpf_attr& attr) { return ::syscall(SYS_bpf, command, &attr, sizeof attr); }

}  // namespace

Result<Done> attach_device_program(int group_fd, const std::vector<DeviceRule>& rules) {
  const std::vector<bpf_insn> program = program_for(rules);
  bpf_attr load{};
  load.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
  load.insns = reinterpret_cast<std::uintptr_t>(program.data());
  load.insn_cnt = static_cast<std::uint32_t>(program.size());
  load.license = reinterpret_cast<std::uintptr_t>("Apache-2.0");
  const Descriptor loaded{static_cast<int>(bpf(BPF_PROG_LOAD, load))};
  if (!loaded.is_open()) return failure("limit the devices of the sandbox");
  bpf_attr attach{};
  attach.target_fd = static_cast<std::uint32_t>(group_fd);
  attach.attach_bpf_fd = static_cast<std::uint32_t>(loaded.get());
  attach.attach_type = BPF_CGROUP_DEVICE;
  attach.attach_flags = BPF_F_ALLOW_MULTI;
  if (bpf(BPF_PROG_ATTACH, attach) != 0) return failure("limit the devices of the sandbox");
  return Done{};
}

}  // namespace heddle::sandbox
