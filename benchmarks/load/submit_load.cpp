// heddle_bench_submit: puts in jobs over many connections and says how fast that went, as JSON.
//
//   heddle_bench_submit PORT TOKEN_FILE TEAM CONNECTIONS REQUESTS PREFIX COMMAND
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "load/http_load.h"

namespace {

std::string first_line_of(const char* file) {
  std::ifstream in{file};
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) {
    std::fprintf(stderr, "usage: %s PORT TOKEN_FILE TEAM CONNECTIONS REQUESTS PREFIX COMMAND\n",
                 argv[0]);
    return 2;
  }
  heddle::bench::LoadOptions options;
  options.port = static_cast<std::uint16_t>(std::atoi(argv[1]));
  options.connections = std::atoi(argv[4]);
  options.requests = std::atoi(argv[5]);
  const std::string team = argv[3];
  const std::string prefix = argv[6];
  const std::string command = argv[7];
  const std::string head =
      "POST /v1/workloads HTTP/1.1\r\nHost: 127.0.0.1:" + std::string{argv[1]} +
      "\r\nAuthorization: Bearer " + first_line_of(argv[2]) +
      "\r\nContent-Type: application/json\r\nContent-Length: ";

  const auto make = [&](int i) {
    const std::string body = "{\"name\":\"" + prefix + std::to_string(i) + "\",\"team\":\"" + team +
                             "\",\"command\":[\"" + command +
                             "\"],\"resources\":{\"gpu\":0.125},\"time_limit\":\"10m\"}";
    return head + std::to_string(body.size()) + "\r\n\r\n" + body;
  };
  const heddle::bench::LoadResult result = heddle::bench::run_load(options, make);
  if (result.good != options.requests) {
    std::fprintf(stderr, "%d of %d were taken; the first refusal: %s\n", result.good,
                 options.requests, result.first_bad.c_str());
    return 1;
  }
  std::printf("{\"per_s\":%.1f,\"seconds\":%.4f,\"p50_ms\":%.3f,\"p99_ms\":%.3f}\n",
              result.good / result.seconds, result.seconds,
              heddle::bench::percentile(result.latencies_ms, 50),
              heddle::bench::percentile(result.latencies_ms, 99));
  return 0;
}
