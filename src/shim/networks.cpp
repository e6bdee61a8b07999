#include "shim/networks.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace heddle::shim {

Fd Networks::take(std::int64_t uid) {
  const auto at = std::find_if(kept_.rbegin(), kept_.rend(),
                               [&](const auto& entry) { return entry.first == uid; });
  if (at == kept_.rend()) return {};
  Fd network = std::move(at->second);
  kept_.erase(std::next(at).base());
  return network;
}

void Networks::put(std::int64_t uid, Fd network) {
  if (kept_.size() == kMax) kept_.erase(kept_.begin());
  kept_.emplace_back(uid, std::move(network));
}

void send_network(int socket, uid_t uid, int network) {
  std::int64_t whose = uid;
  iovec part{&whose, sizeof whose};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof network);
  std::memcpy(CMSG_DATA(head), &network, sizeof network);
  (void)sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void receive_networks(int socket, Networks& networks) {
  for (;;) {
    std::int64_t whose = 0;
    iovec part{&whose, sizeof whose};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    const cmsghdr* head = size > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
    if (size <= 0) return;
    if (head == nullptr || head->cmsg_type != SCM_RIGHTS) continue;
    int network = -1;
    std::memcpy(&network, CMSG_DATA(head), sizeof network);
    Fd received{network};
    if (size == sizeof whose) networks.put(whose, std::move(received));
  }
}

}  // namespace heddle::shim
