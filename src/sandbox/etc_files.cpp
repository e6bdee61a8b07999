#include "sandbox/etc_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "sandbox/failure.h"
#include "sandbox/folders.h"

namespace heddle::sandbox {
namespace {

constexpr const char* kNsswitch =
    "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\n"
    "protocols: files\nservices: files\n";
constexpr uid_t kNobody = 65534;

std::string passwd_of(const Spec& spec) {
  const std::string home = spec.home.empty() ? "/" : spec.home;
  std::string text = "root:x:0:0:root:/:/usr/sbin/nologin\n";
  text += spec.user_name + ":x:" + std::to_string(spec.uid) + ":" + std::to_string(spec.gid) +
          "::" + home + ":/bin/sh\n";
  if (spec.uid != kNobody) text += "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n";
  return text;
}

std::string group_of(const Spec& spec) {
  std::string text = "root:x:0:\n" + spec.user_name + ":x:" + std::to_string(spec.gid) + ":\n";
  if (spec.gid != kNobody) text += "nogroup:x:65534:\n";
  return text;
}

std::string hosts_of(const Spec& spec) {
  std::string text = "127.0.0.1 localhost\n::1 localhost ip6-localhost\n";
  bool named = false;
  for (const auto& [name, address] : spec.hosts) {
    text += address + " " + name + "\n";
    named = named || name == spec.hostname;
  }
  if (!named && !spec.hostname.empty()) text += "127.0.0.1 " + spec.hostname + "\n";
  return text;
}

// The host's choice of time zone, as the link that it is; the zone itself lies below /usr.
void copy_local_time(int root) {
  std::array<char, 256> target;
  const ssize_t size = ::readlink("/etc/localtime", target.data(), target.size());
  if (size <= 0 || size == static_cast<ssize_t>(target.size())) return;
  const std::string link{target.data(), static_cast<std::size_t>(size)};
  // Without it programs fall back to UTC, so a failure is none.
  if (link.find("usr/share/zoneinfo/") != std::string::npos &&
      ::symlinkat(link.c_str(), root, "etc/localtime") != 0)
    return;
}

}  // namespace

Result<Done> fill_etc(int root, const Spec& spec) {
  const bool made = make_file(root, "etc/passwd", passwd_of(spec)) &&
                    make_file(root, "etc/group", group_of(spec)) &&
                    make_file(root, "etc/hosts", hosts_of(spec)) &&
                    make_file(root, "etc/hostname", spec.hostname + "\n") &&
                    make_file(root, "etc/resolv.conf", "") &&
                    make_file(root, "etc/nsswitch.conf", kNsswitch);
  if (!made) return failure("write the sandbox's /etc");
  copy_local_time(root);
  return Done{};
}

}  // namespace heddle::sandbox
