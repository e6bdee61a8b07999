#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace heddle::log {
namespace {

void append_text(std::string& line, std::string_view text) {
  line.push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      line.push_back('\\');
      line.push_back(c);
    } else if (byte < 0x20 || byte == 0x7f) {
      fmt::format_to(std::back_inserter(line), "\\u{:04x}", byte);
    } else {
      line.push_back(c);
    }
  }
  line.push_back('"');
}

spdlog::logger& sink() {
  static const auto logger = [] {
    auto made = std::make_shared<spdlog::logger>("heddle",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern(R"({"at":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})",
                      spdlog::pattern_time_type::utc);
    return made;
  }();
  return *logger;
}

std::string line_of(std::string_view event, std::initializer_list<Field> fields) {
  std::string line = "\"event\":";
  append_text(line, event);
  for (const Field& field : fields) {
    line.push_back(',');
    append_text(line, field.name);
    line.push_back(':');
    if (field.is_number)
      line += std::to_string(field.number);
    else
      append_text(line, field.text);
  }
  return line;
}

}  // namespace

void info(std::string_view event, std::initializer_list<Field> fields) {
  sink().log(spdlog::level::info, "{}", line_of(event, fields));
}

void error(std::string_view event, std::initializer_list<Field> fields) {
  sink().log(spdlog::level::err, "{}", line_of(event, fields));
}

}  // namespace heddle::log
