// EasyHandle: one libcurl transfer, set up the way every request of ours must be.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/web.h"
#include "client/http_client.h"

namespace heddle::client {

// Owns the libcurl handle (`void*` keeps the library out of headers) and the request's header list.
// Collects the answer's status and headers itself; body bytes go where `on_body` says.
class EasyHandle {
 public:
  EasyHandle();
  ~EasyHandle();
  EasyHandle(const EasyHandle&) = delete;
  EasyHandle& operator=(const EasyHandle&) = delete;

  // Makes the handle ready for `call`. Only http and https, no redirects, no proxy for loopback,
  // no cookies; the token goes out with it, so `call` must be for `options.server`.
  void prepare(const Options& options, const Call& call);

  // False stops the transfer. Set before the transfer starts.
  std::function<bool(std::string_view)> on_body;
  // Called when status and headers are there, before the body. May be empty.
  std::function<void()> on_headers;

  void* raw() const { return easy_; }
  int status() const;
  const web::Headers& headers() const { return headers_; }
  // Words for a failed transfer: libcurl's own buffer where it says more.
  std::string words(int curl_code) const;

  // For libcurl's callbacks only.
  void take_header(std::string_view line);

 private:
  void* easy_;
  void* header_list_ = nullptr;
  std::string body_;
  web::Headers headers_;
  std::unique_ptr<char[]> error_text_;
};

}  // namespace heddle::client
