// Streams: server-sent event streams that are opened again where they broke, without a gap.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "client/http_client.h"
#include "client/sse.h"

namespace heddle::client {

// What happens to one stream. Called from Streams::pump only.
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  // False closes the stream.
  virtual bool on_event(const SseEvent& event) = 0;
  // The connection is gone; the next try is due in `next_try`. Called again for each failed try.
  virtual void on_lost(const std::string& why, Duration next_try) = 0;
  // The server has the stream open, for the first time or again: from here on nothing is missed.
  virtual void on_open() = 0;
  // The server said no (a 4xx, or something that is not a stream): the stream is closed.
  virtual void on_refused(const Answer& answer) = 0;
};

enum class Pumped { kMoved, kTime, kAllClosed, kInterrupted };

// One thread. A stream that breaks, or is silent for a minute, is asked for again with the last
// event id after 1, 2, 4, 8, then every 12 s, or when the server's `retry` or Retry-After says.
// The token goes to the server's own origin only; redirects are not followed.
class Streams {
 public:
  explicit Streams(Options options);
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  // `sink` outlives the stream. The id names the stream for close().
  int open(std::string target, std::string last_event_id, StreamSink& sink);
  void close(int id);
  std::size_t count() const;

  // Moves every stream on for at most `at_most`; returns early when a sink was called, nothing is
  // open, or the options' interrupt_fd is readable.
  Pumped pump(Duration at_most);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle::client
