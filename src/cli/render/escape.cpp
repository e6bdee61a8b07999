#include "cli/render/escape.h"

#include <wchar.h>

#include <array>
#include <cstdio>
#include <vector>

namespace heddle::cli {
namespace {

struct Rune {
  char32_t value = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

Rune rune_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  std::size_t length = 0;
  char32_t value = 0;
  char32_t least = 0;
  if ((first & 0xE0U) == 0xC0) length = 2, value = first & 0x1FU, least = 0x80;
  if ((first & 0xF0U) == 0xE0) length = 3, value = first & 0x0FU, least = 0x800;
  if ((first & 0xF8U) == 0xF0) length = 4, value = first & 0x07U, least = 0x10000;
  if (length == 0 || text.size() < length) return {first, 1, false};
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {first, 1, false};
    value = (value << 6U) | (byte(i) & 0x3FU);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < least || value > 0x10FFFF || surrogate) return {first, 1, false};
  return {value, length, true};
}

struct Range {
  char32_t first;
  char32_t last;
};

// Steers the terminal, the reader's eye, or cannot be seen.
constexpr std::array kHidden{
    Range{0x00, 0x1F},     Range{0x7F, 0x9F},     Range{0xAD, 0xAD},       Range{0x61C, 0x61C},
    Range{0x180E, 0x180E}, Range{0x200B, 0x200F}, Range{0x2028, 0x202E},   Range{0x2060, 0x206F},
    Range{0xFEFF, 0xFEFF}, Range{0xFFF9, 0xFFFB}, Range{0xE0000, 0xE007F},
};

bool is_hidden(char32_t value) {
  for (const Range& range : kHidden)
    if (value >= range.first && value <= range.last) return true;
  return false;
}

void append_visible(std::string& out, const Rune& rune) {
  if (rune.valid && rune.value == '\n') {
    out += "\\n";
  } else if (rune.valid && rune.value == '\r') {
    out += "\\r";
  } else if (rune.valid && rune.value == '\t') {
    out += "\\t";
  } else {
    char buffer[16];
    const bool small = !rune.valid || rune.value <= 0xFF;
    const char* form = small ? "\\x%02x" : rune.value <= 0xFFFF ? "\\u%04x" : "\\U%08x";
    std::snprintf(buffer, sizeof buffer, form, static_cast<unsigned>(rune.value));
    out += buffer;
  }
}

void append_safe(std::string& out, std::string_view& text) {
  const Rune rune = rune_at(text);
  if (!rune.valid || is_hidden(rune.value))
    append_visible(out, rune);
  else
    out.append(text.substr(0, rune.bytes));
  text.remove_prefix(rune.bytes);
}

// Colours, weights and lines; no 'concealed' (8), no blinking (5, 6).
bool is_colour(const std::vector<int>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const int n = numbers[i];
    if (n == 38 || n == 48) {
      if (i + 2 < numbers.size() && numbers[i + 1] == 5)
        i += 2;
      else if (i + 4 < numbers.size() && numbers[i + 1] == 2)
        i += 4;
      else
        return false;
      continue;
    }
    const bool fine = (n >= 0 && n <= 4) || n == 7 || n == 9 || (n >= 21 && n <= 25) || n == 27 ||
                      n == 29 || (n >= 30 && n <= 49) || (n >= 90 && n <= 107);
    if (!fine) return false;
  }
  return true;
}

// Length of the SGR sequence that `text` starts with (ESC [ numbers m), or 0.
std::size_t colour_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  std::vector<int> numbers(1, 0);
  for (std::size_t i = 2; i < text.size() && i < 40; ++i) {
    const char c = text[i];
    if (c == 'm') return is_colour(numbers) ? i + 1 : 0;
    if (c == ';') {
      numbers.push_back(0);
    } else if (c >= '0' && c <= '9' && numbers.back() < 1000) {
      numbers.back() = numbers.back() * 10 + (c - '0');
    } else {
      return 0;
    }
  }
  return 0;
}

std::size_t width_of_rune(const Rune& rune) {
  if (!rune.valid || rune.value < 0x300) return 1;
  const int width = wcwidth(static_cast<wchar_t>(rune.value));
  return width < 0 ? 1 : static_cast<std::size_t>(width);
}

}  // namespace

std::string safe(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) append_safe(out, text);
  return out;
}

std::string safe_log_line(std::string_view line, Colours colours) {
  std::string out;
  out.reserve(line.size());
  bool coloured = false;
  while (!line.empty()) {
    if (line.front() == '\t') {
      out += '\t';
      line.remove_prefix(1);
    } else if (const std::size_t length = colour_length(line); length > 0) {
      if (colours == Colours::kKeep) {
        out.append(line.substr(0, length));
        coloured = true;
      }
      line.remove_prefix(length);
    } else {
      append_safe(out, line);
    }
  }
  if (coloured) out += "\x1b[0m";
  return out;
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Rune rune = rune_at(text);
    width += width_of_rune(rune);
    text.remove_prefix(rune.bytes);
  }
  return width;
}

std::string shorten_middle(std::string_view text, std::size_t columns, bool ascii) {
  if (width_of(text) <= columns) return std::string(text);
  const std::string dots = ascii ? "..." : "\u2026";
  const std::size_t room = columns > width_of(dots) ? columns - width_of(dots) : 0;
  const std::size_t tail_room = room / 2;
  std::string head;
  std::size_t width = 0;
  std::vector<std::string_view> runes;
  for (std::string_view rest = text; !rest.empty();) {
    const Rune rune = rune_at(rest);
    runes.push_back(rest.substr(0, rune.bytes));
    rest.remove_prefix(rune.bytes);
  }
  for (const std::string_view rune : runes) {
    if (width + width_of(rune) > room - tail_room) break;
    head += rune;
    width += width_of(rune);
  }
  std::string tail;
  std::size_t tail_width = 0;
  for (auto it = runes.rbegin(); it != runes.rend() && tail_width + width_of(*it) <= tail_room;
       ++it) {
    tail.insert(0, *it);
    tail_width += width_of(*it);
  }
  return head + dots + tail;
}

}  // namespace heddle::cli
