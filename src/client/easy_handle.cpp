#include "client/easy_handle.h"

#include <curl/curl.h>

#include <cerrno>

#include "base/check.h"

namespace heddle::client {
namespace {

std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* self) {
  static_cast<EasyHandle*>(self)->take_header({bytes, size * count});
  return size * count;
}

std::size_t on_bytes(char* bytes, std::size_t size, std::size_t count, void* self) {
  auto& handle = *static_cast<EasyHandle*>(self);
  const bool more = handle.on_body({bytes, size * count});
  return more ? size * count : 0;
}

// libcurl wants one global start before the first handle; a function-local constant gives it once.
bool library_is_ready() {
  static const bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return ready;
}

bool refused(void* easy) {
  long error = 0;
  curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &error);
  return error == ECONNREFUSED;
}

std::string trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && std::string_view(" \t\r\n").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

EasyHandle::EasyHandle() : error_text_{std::make_unique<char[]>(CURL_ERROR_SIZE)} {
  HEDDLE_CHECK(library_is_ready());
  easy_ = curl_easy_init();
  HEDDLE_CHECK(easy_ != nullptr);
}

EasyHandle::~EasyHandle() {
  curl_easy_cleanup(easy_);
  curl_slist_free_all(static_cast<curl_slist*>(header_list_));
}

void EasyHandle::prepare(const Options& options, const Call& call) {
  curl_easy_reset(easy_);
  curl_slist_free_all(static_cast<curl_slist*>(header_list_));
  curl_slist* list = nullptr;
  headers_.clear();
  error_text_[0] = '\0';
  body_ = call.body;
  for (const auto& [name, value] : call.headers)
    list = curl_slist_append(list, (name + ": " + value).c_str());
  if (!options.token.empty())
    list = curl_slist_append(list, ("Authorization: Bearer " + options.token).c_str());
  list = curl_slist_append(list, "Expect:");
  header_list_ = list;

  const auto set = [this](auto option, auto value) {
    HEDDLE_CHECK(curl_easy_setopt(easy_, option, value) == CURLE_OK);
  };
  set(CURLOPT_URL, (options.server.text() + call.target).c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_HTTPHEADER, list);
  set(CURLOPT_USERAGENT, options.user_agent.c_str());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_ERRORBUFFER, error_text_.get());
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_within.ms));
  set(CURLOPT_HEADERFUNCTION, &on_header);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, &on_bytes);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_PATH_AS_IS, 1L);
  if (options.server.is_loopback()) set(CURLOPT_NOPROXY, "*");
  if (!options.ca_file.empty()) set(CURLOPT_CAINFO, options.ca_file.c_str());
  if (call.method != "GET" || !body_.empty()) {
    set(CURLOPT_CUSTOMREQUEST, call.method.c_str());
    if (call.method != "DELETE" || !body_.empty()) {
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body_.size()));
      set(CURLOPT_POSTFIELDS, body_.data());
    }
  }
}

int EasyHandle::status() const {
  long status = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

std::string EasyHandle::words(int curl_code) const {
  switch (curl_code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return "the name of the server is not known";
    case CURLE_COULDNT_CONNECT:
      return refused(easy_) ? "connection refused" : "no connection";
    case CURLE_OPERATION_TIMEDOUT:
      return "no answer in time";
    case CURLE_PEER_FAILED_VERIFICATION:
      return "its certificate is not trusted";
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_PARTIAL_FILE:
      return "the connection broke";
    default:
      return error_text_[0] != '\0'
                 ? std::string(error_text_.get())
                 : std::string(curl_easy_strerror(static_cast<CURLcode>(curl_code)));
  }
}

void EasyHandle::take_header(std::string_view line) {
  if (line.starts_with("HTTP/")) return headers_.clear();
  if (line == "\r\n" || line == "\n") {
    if (on_headers) on_headers();
    return;
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || headers_.size() >= 200) return;
  std::string name(line.substr(0, colon));
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  headers_.emplace_back(std::move(name), trimmed(line.substr(colon + 1)));
}

}  // namespace heddle::client
