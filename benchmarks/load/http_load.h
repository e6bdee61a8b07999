// HttpLoad: many connections that each send a request, wait for its answer, and send the next.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heddle::bench {

struct LoadOptions {
  std::string host = "127.0.0.1";  // numbers only
  std::uint16_t port = 0;
  int connections = 1;
  int requests = 1;  // in all
};

struct LoadResult {
  double seconds = 0;
  std::vector<double> latencies_ms;  // ascending, of the good answers
  int good = 0;                      // answers of 2xx
  std::string first_bad;             // status line and body of the first other answer
};

// `make(i)` gives the bytes of request i. One thread, one epoll. Ends the process with a message
// when the server cannot be reached or closes a connection.
LoadResult run_load(const LoadOptions& options, const std::function<std::string(int)>& make);

// The value below which `percent` of the sorted values lie.
double percentile(const std::vector<double>& sorted, int percent);

}  // namespace heddle::bench
