#include "client/streams.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <utility>

#include "base/check.h"
#include "client/easy_handle.h"

namespace heddle::client {
namespace {

constexpr std::int64_t kLongestPauseMs = 12'000;
constexpr long kSilentSeconds = 60;  // the server says something every 15 s
constexpr std::size_t kMaxRefusalBytes = 256 * 1024;

std::int64_t boot_ms() {
  using std::chrono::steady_clock;
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             steady_clock::now().time_since_epoch())
      .count();
}

std::int64_t retry_after_ms(const web::Headers& headers) {
  const std::string_view text = web::header(headers, "retry-after");
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size()) return 0;
  return std::clamp<std::int64_t>(seconds, 0, 60) * 1000;
}

struct Stream {
  std::string target;
  StreamSink* sink = nullptr;
  SseParser parser;
  EasyHandle handle;
  std::string refusal;
  bool on_wire = false;
  bool closing = false;  // by the sink or by close(), taken out after the callbacks
  bool broken = false;   // the parser does not trust it
  std::int64_t failures = 0;
  std::int64_t due_ms = 0;  // of the next try while not on the wire

  bool is_event_stream() const {
    return handle.status() == 200 &&
           web::header(handle.headers(), "content-type").starts_with("text/event-stream");
  }
};

}  // namespace

struct Streams::State {
  Options options;
  CURLM* multi = curl_multi_init();
  std::map<int, std::unique_ptr<Stream>> streams;
  int next_id = 1;
  bool moved = false;  // a sink was called in this pump

  explicit State(Options given) : options{std::move(given)} { HEDDLE_CHECK(multi != nullptr); }
  ~State() {
    for (auto& [id, stream] : streams)
      if (stream->on_wire) curl_multi_remove_handle(multi, stream->handle.raw());
    streams.clear();
    curl_multi_cleanup(multi);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  bool take_bytes(Stream& stream, std::string_view bytes) {
    if (!stream.is_event_stream()) {
      if (stream.refusal.size() + bytes.size() <= kMaxRefusalBytes) stream.refusal.append(bytes);
      return true;
    }
    const bool fine = stream.parser.feed(bytes, [&](const SseEvent& event) {
      moved = true;
      stream.failures = 0;
      if (!stream.closing && !stream.sink->on_event(event)) stream.closing = true;
      return !stream.closing;
    });
    if (!fine && !stream.closing) stream.broken = true;
    return fine;
  }

  void connect(Stream& stream) {
    Call call{"GET", stream.target, {{"Accept", "text/event-stream"}}, {}};
    if (!stream.parser.last_id().empty())
      call.headers.emplace_back("Last-Event-ID", stream.parser.last_id());
    // A half event of the old connection is sent again after the resume.
    SseParser fresh;
    fresh.set_last_id(stream.parser.last_id());
    stream.parser = std::move(fresh);
    stream.refusal.clear();
    stream.broken = false;
    stream.handle.prepare(options, call);
    stream.handle.on_body = [this, &stream](std::string_view b) { return take_bytes(stream, b); };
    stream.handle.on_headers = [this, &stream] {
      if (!stream.is_event_stream()) return;
      moved = true;
      stream.sink->on_open();
    };
    curl_easy_setopt(stream.handle.raw(), CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(stream.handle.raw(), CURLOPT_LOW_SPEED_TIME, kSilentSeconds);
    curl_multi_add_handle(multi, stream.handle.raw());
    stream.on_wire = true;
  }

  // The transfer is over: closed for good, or due again.
  void settle(Stream& stream, CURLcode code) {
    curl_multi_remove_handle(multi, stream.handle.raw());
    stream.on_wire = false;
    if (stream.closing) return;
    const int status = code == CURLE_OK || stream.refusal.size() ? stream.handle.status() : 0;
    const bool try_later = status == 429 || status >= 500 || status == 0;
    if (!try_later && !stream.is_event_stream()) {
      stream.closing = true;
      moved = true;
      if (status != 204) stream.sink->on_refused({status, stream.handle.headers(), stream.refusal});
      return;
    }
    std::string why = code == CURLE_OK ? "the server ended the stream" : stream.handle.words(code);
    if (stream.broken) why = "the stream is not readable";
    if (status >= 400) why = "the server answered " + std::to_string(status);
    std::int64_t pause = std::min<std::int64_t>(
        1000LL << std::min<std::int64_t>(stream.failures, 4), kLongestPauseMs);
    if (stream.failures == 0 && code == CURLE_OK && status == 200)
      pause = stream.parser.retry_ms().value_or(pause);
    pause = std::max(pause, retry_after_ms(stream.handle.headers()));
    ++stream.failures;
    stream.due_ms = boot_ms() + pause;
    moved = true;
    stream.sink->on_lost(why, Duration::millis(pause));
  }

  void read_messages() {
    int left = 0;
    while (CURLMsg* message = curl_multi_info_read(multi, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      void* easy = message->easy_handle;
      for (auto& [id, stream] : streams)
        if (stream->on_wire && stream->handle.raw() == easy) {
          settle(*stream, code);
          break;
        }
    }
  }

  // Starts what is due, drops what is closing; the time of the next try, or `until`.
  std::int64_t tend(std::int64_t now, std::int64_t until) {
    for (auto it = streams.begin(); it != streams.end();) {
      Stream& stream = *it->second;
      if (stream.closing) {
        if (stream.on_wire) curl_multi_remove_handle(multi, stream.handle.raw());
        it = streams.erase(it);
        continue;
      }
      if (!stream.on_wire) {
        if (stream.due_ms <= now)
          connect(stream);
        else
          until = std::min(until, stream.due_ms);
      }
      ++it;
    }
    return until;
  }
};

Streams::Streams(Options options) : state_{std::make_unique<State>(std::move(options))} {}
Streams::~Streams() = default;

std::size_t Streams::count() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(state_->streams, [](const auto& s) { return !s.second->closing; }));
}

int Streams::open(std::string target, std::string last_event_id, StreamSink& sink) {
  auto stream = std::make_unique<Stream>();
  stream->target = std::move(target);
  stream->sink = &sink;
  stream->parser.set_last_id(std::move(last_event_id));
  const int id = state_->next_id++;
  state_->streams.emplace(id, std::move(stream));
  return id;
}

void Streams::close(int id) {
  const auto it = state_->streams.find(id);
  if (it != state_->streams.end()) it->second->closing = true;
}

Pumped Streams::pump(Duration at_most) {
  const std::int64_t end = boot_ms() + at_most.ms;
  state_->moved = false;
  for (;;) {
    const std::int64_t wake = state_->tend(boot_ms(), end);
    if (count() == 0) return Pumped::kAllClosed;
    int running = 0;
    HEDDLE_CHECK(curl_multi_perform(state_->multi, &running) == CURLM_OK);
    state_->read_messages();
    const std::int64_t now = boot_ms();
    if (count() == 0) continue;
    if (state_->moved) return Pumped::kMoved;
    if (now >= end) return Pumped::kTime;
    curl_waitfd extra{state_->options.interrupt_fd, CURL_WAIT_POLLIN, 0};
    const unsigned extras = state_->options.interrupt_fd >= 0 ? 1 : 0;
    const auto wait = static_cast<int>(std::clamp<std::int64_t>(wake - now, 0, 60'000));
    curl_multi_poll(state_->multi, &extra, extras, wait, nullptr);
    if (extras == 1 && (extra.revents & CURL_WAIT_POLLIN) != 0) return Pumped::kInterrupted;
  }
}

}  // namespace heddle::client
