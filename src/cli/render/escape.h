// What others wrote, made safe to show: nothing in it can steer the reader's terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::cli {

// For one field on one line. Control characters (C0, DEL, C1), line and paragraph separators, marks
// that turn the direction of text, invisible characters and broken UTF-8 come out as \n, \t, \x1b,
// \u202e: visible, and inert. Everything else is kept byte for byte.
std::string safe(std::string_view text);

enum class Colours : std::uint8_t { kKeep, kDrop };

// For one line of a log (no '\n' in it): as safe(), but tabs stay, and colours and weights (SGR)
// pass or are dropped silently. Whatever was switched on is switched off at the end of the line.
std::string safe_log_line(std::string_view line, Colours colours);

// How many columns of a terminal a safe text takes: wide characters count two, combining ones none.
std::size_t width_of(std::string_view text);

// Shortens in the middle with an ellipsis (three dots when `ascii`) to at most `columns`.
std::string shorten_middle(std::string_view text, std::size_t columns, bool ascii);

}  // namespace heddle::cli
