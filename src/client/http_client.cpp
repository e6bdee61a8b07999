#include "client/http_client.h"

#include <curl/curl.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/check.h"
#include "client/easy_handle.h"

namespace heddle::client {
namespace {

std::int64_t boot_ms() {
  using std::chrono::steady_clock;
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             steady_clock::now().time_since_epoch())
      .count();
}

// True if it was interrupted before the time was over.
bool pause_for(Duration duration, int interrupt_fd) {
  pollfd waited{interrupt_fd, POLLIN, 0};
  return poll(&waited, 1, static_cast<int>(duration.ms)) > 0;
}

bool never_connected(CURLcode code) {
  return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
         code == CURLE_COULDNT_RESOLVE_PROXY;
}

bool broke(CURLcode code) {
  return code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR ||
         code == CURLE_PARTIAL_FILE;
}

bool may_repeat(const Call& call) {
  if (call.method == "GET" || call.method == "PUT" || call.method == "DELETE") return true;
  return std::ranges::any_of(call.headers,
                             [](const auto& h) { return h.first == "Idempotency-Key"; });
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

}  // namespace

struct HttpClient::State {
  Options options;
  EasyHandle handle;
  CURLM* multi = curl_multi_init();

  explicit State(Options given) : options{std::move(given)} { HEDDLE_CHECK(multi != nullptr); }
  ~State() { curl_multi_cleanup(multi); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // Runs the prepared transfer to its end; nullopt when interrupted.
  std::optional<CURLcode> transfer() {
    curl_multi_add_handle(multi, handle.raw());
    std::optional<CURLcode> ended;
    bool interrupted = false;
    while (!ended && !interrupted) {
      int running = 0;
      HEDDLE_CHECK(curl_multi_perform(multi, &running) == CURLM_OK);
      int left = 0;
      while (CURLMsg* message = curl_multi_info_read(multi, &left))
        if (message->msg == CURLMSG_DONE) ended = message->data.result;
      if (ended) break;
      curl_waitfd extra{options.interrupt_fd, CURL_WAIT_POLLIN, 0};
      const unsigned extras = options.interrupt_fd >= 0 ? 1 : 0;
      curl_multi_poll(multi, &extra, extras, 1000, nullptr);
      interrupted = extras == 1 && (extra.revents & CURL_WAIT_POLLIN) != 0;
    }
    curl_multi_remove_handle(multi, handle.raw());
    return ended;
  }

  std::variant<Answer, Failure> once(const Call& call, CURLcode& code) {
    Answer answer;
    bool too_large = false;
    handle.prepare(options, call);
    curl_easy_setopt(handle.raw(), CURLOPT_TIMEOUT_MS, static_cast<long>(options.answer_within.ms));
    handle.on_body = [&](std::string_view bytes) {
      too_large = answer.body.size() + bytes.size() > kMaxAnswerBytes;
      if (!too_large) answer.body.append(bytes);
      return !too_large;
    };
    const auto ended = transfer();
    code = ended.value_or(CURLE_OK);
    if (!ended) return Failure{Fault::kInterrupted, "interrupted", 1, {}};
    if (too_large) return Failure{Fault::kBadAnswer, "the answer is larger than 64 MiB", 1, {}};
    if (code == CURLE_OK) {
      answer.status = handle.status();
      answer.headers = handle.headers();
      return answer;
    }
    Fault fault = Fault::kUnreachable;
    if (code == CURLE_OPERATION_TIMEDOUT) fault = Fault::kTimeout;
    if (code == CURLE_WEIRD_SERVER_REPLY || code == CURLE_UNSUPPORTED_PROTOCOL ||
        code == CURLE_HTTP2 || code == CURLE_BAD_CONTENT_ENCODING)
      fault = Fault::kBadAnswer;
    return Failure{fault, handle.words(code), 1, {}};
  }

  std::variant<Answer, Failure> with_tries(const Call& call) {
    const std::int64_t began = boot_ms();
    for (int tries = 1;; ++tries) {
      CURLcode code = CURLE_OK;
      auto result = once(call, code);
      auto* failure = std::get_if<Failure>(&result);
      if (failure == nullptr) return result;
      failure->tries = tries;
      failure->took = Duration::millis(boot_ms() - began);
      const bool again = never_connected(code) || (broke(code) && may_repeat(call));
      if (!again || tries == 3 || failure->fault == Fault::kInterrupted) return result;
      if (pause_for(options.pauses[tries - 1], options.interrupt_fd))
        return Failure{Fault::kInterrupted, "interrupted", tries, failure->took};
    }
  }
};

HttpClient::HttpClient(Options options) : state_{std::make_unique<State>(std::move(options))} {}
HttpClient::~HttpClient() = default;

const Options& HttpClient::options() const { return state_->options; }

std::variant<Answer, Failure> HttpClient::send(const Call& call) {
  Call hop = call;
  for (int hops = 0;; ++hops) {
    auto result = state_->with_tries(hop);
    const auto* answer = std::get_if<Answer>(&result);
    if (answer == nullptr || !is_redirect(answer->status)) return result;
    const std::string location(web::header(answer->headers, "location"));
    std::string target;
    const auto origin = follow_location(state_->options.server, location, target);
    const std::string where = origin ? origin->text() : "an address that is not valid";
    if (call.method != "GET" || hops == 3 || !origin || *origin != state_->options.server)
      return Failure{Fault::kRedirected, where, 1, {}};
    hop.target = target;
  }
}

std::string encode_part(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

}  // namespace heddle::client
