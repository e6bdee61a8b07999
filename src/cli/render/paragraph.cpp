#include "cli/render/paragraph.h"

#include "cli/render/escape.h"

namespace heddle::cli {

std::string paragraph(std::string_view label, std::string_view text, const Look& look) {
  const std::string shown = safe(text);
  std::string_view rest = shown;
  const std::string indent(label.size(), ' ');
  std::string out(label);
  std::size_t at = label.size();
  bool first = true;
  while (!rest.empty()) {
    const auto end = rest.find(' ');
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (word.empty()) continue;
    const std::size_t width = width_of(word);
    if (!first && !look.plain && at + 1 + width > look.columns) {
      out += "\n" + indent;
      at = label.size();
    } else if (!first) {
      out += ' ';
      ++at;
    }
    out += word;
    at += width;
    first = false;
  }
  return out + "\n";
}

}  // namespace heddle::cli
