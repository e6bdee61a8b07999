#include <doctest/doctest.h>

#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "cli/render/amount.h"
#include "cli/render/escape.h"
#include "cli/render/paragraph.h"
#include "cli/render/table.h"
#include "cli/render/when.h"

namespace heddle::cli {
namespace {

// What others have put into names, logs and messages to steer a reader's terminal or eye.
const std::vector<std::string_view> kHostile{
    "\x1b]52;c;ZXZpbA==\x07",  // sets the clipboard
    "\x1b]52;c;?\x1b\\",       // reads it
    "\x1b]0;title\x07",        // sets the title
    "\x1b[21t",                // asks for the title, which is then typed
    "\x1b[6n",                 // asks for the cursor's place
    "\x1b[c",                  // asks what the terminal is
    "\x1b[>c",
    "\x1bZ",
    "\x1b[5n",
    "\x1b[?1049h",  // alternate screen
    "\x1b[?1049l",
    "\x1b[2J",  // clears the screen
    "\x1b[H",   // moves home
    "\x1b[1;1f",
    "\x1b[999D",
    "\x1b[1A",  // writes over the line above
    "\x1b[K",
    "\x1b[8m",  // concealed
    "\x1b[5m",  // blinking
    "\x1b[0;8m",
    "\x1b[38;9;1m",
    "\x1b[1;2;3;4;5;6;7;8m",
    "\x1b[?25l",    // hides the cursor
    "\x1b[?1000h",  // mouse reports are typed
    "\x1b[?2004h",
    "\x1b[20h",
    "\x1b[4h",
    "\x1b[3;5r",  // scroll region
    "\x1b[s",
    "\x1b[u",
    "\x1b"
    "7",
    "\x1b"
    "8",
    "\x1b"
    "c",  // full reset
    "\x1b"
    "D",
    "\x1b"
    "M",
    "\x1b(0",  // line drawing letters
    "\x1b)0",
    "\x1b#8",
    "\x1b%G",
    "\x1bP+q544e\x1b\\",  // device control
    "\x1bPtmux;\x1b\x1b]52;c;eA==\x07\x1b\\",
    "\x1b_Gi=1;AAAA\x1b\\",  // pictures
    "\x1b^private\x1b\\",
    "\x1bXstart\x1b\\",
    "\x1b]8;;file:///etc/passwd\x07link\x1b]8;;\x07",
    "\x1b]1337;File=inline=1:AAAA\x07",
    "\x1b]4;0;rgb:00/00/00\x07",
    "\x1b]11;?\x07",
    "\x1b]777;notify;a;b\x07",
    "\xc2\x9b"
    "2J",  // C1 form of ESC [
    "\xc2\x9d"
    "52;c;eA==\xc2\x9c",  // C1 form of ESC ]
    "\x9b"
    "2J",  // the same as one bare byte
    "\x90"
    "q\x9c",
    "\xc2\x85",   // next line
    "job\rroot",  // writes over what stood there
    "job\nroot",
    "job\x08\x08\x08root",
    "\x07\x07",
    std::string_view("a\0b", 3),
    "\x0e\x0f\x7f",
    "\xe2\x80\xae"
    "gpj.exe",  // right-to-left override
    "\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad",
    "\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9",
    "\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c",  // marks of direction
    "vi\xe2\x80\x8bsion",                // zero width
    "\xef\xbb\xbfvision",
    "\xe2\x80\xa8\xe2\x80\xa9",          // line and paragraph separators
    "\xf3\xa0\x81\x81\xf3\xa0\x81\x82",  // tag letters
    "\xff\xfe\xc0\x80\xed\xa0\x80",      // not UTF-8
    "\xf8\x88\x80\x80\x80\xe2\x80",
};

// Nothing that steers: no control bytes, no C1, no invisible or direction marks, valid UTF-8.
bool is_inert(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return false;
    if (byte == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0) return false;
  }
  for (const std::string_view mark :
       {"\xe2\x80\xae", "\xe2\x80\xaa", "\xe2\x81\xa6", "\xe2\x80\x8b", "\xe2\x80\x8e",
        "\xe2\x80\xa8", "\xef\xbb\xbf", "\xd8\x9c", "\xf3\xa0\x81"})
    if (text.find(mark) != std::string_view::npos) return false;
  return true;
}

}  // namespace

TEST_CASE("hostile texts come out inert, and still say what they were") {
  CHECK(kHostile.size() >= 60);
  for (const std::string_view hostile : kHostile) {
    CAPTURE(hostile.size());
    const std::string shown = safe(std::string("a") + std::string(hostile) + "z");
    CAPTURE(shown);
    CHECK(is_inert(shown));
    CHECK(shown.front() == 'a');
    CHECK(shown.back() == 'z');
    CHECK(shown.find('\\') != std::string::npos);
    CHECK(safe(shown) == shown);
    const std::string line = safe_log_line(hostile, Colours::kKeep);
    CHECK(is_inert(line));
  }
}

TEST_CASE("property: whatever the bytes, what is shown is inert") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    std::string bytes;
    for (int i = 0; i < 40; ++i) bytes += static_cast<char>(rng.between(0, 255));
    CHECK(is_inert(safe(bytes)));
  }
}

TEST_CASE("what is harmless is kept byte for byte") {
  for (const char* text : {"train-vit", "naïve Müller", "训练", "𝔘nicode", "a b\\c", "·–×…"})
    CHECK(safe(text) == text);
}

TEST_CASE("a log line keeps its colours, switches them off at its end, and nothing else") {
  CHECK(safe_log_line("\x1b[31mred\x1b[0m", Colours::kKeep) == "\x1b[31mred\x1b[0m\x1b[0m");
  CHECK(safe_log_line("\x1b[38;5;196mred", Colours::kKeep) == "\x1b[38;5;196mred\x1b[0m");
  CHECK(safe_log_line("\x1b[1;38;2;1;2;3mred", Colours::kDrop) == "red");
  CHECK(safe_log_line("a\tb", Colours::kKeep) == "a\tb");
  CHECK(safe_log_line("\x1b[2Kgone", Colours::kKeep) == "\\x1b[2Kgone");
  CHECK(safe_log_line("\x1b[31", Colours::kKeep) == "\\x1b[31");
}

TEST_CASE("names are shortened in the middle") {
  CHECK(shorten_middle("short", 10, true) == "short");
  CHECK(shorten_middle("a-very-long-name-of-work", 11, true) == "a-ve...work");
  CHECK(shorten_middle("a-very-long-name-of-work", 11, false) == "a-ver\u2026-work");
  for (std::size_t room = 4; room < 30; ++room)
    CHECK(width_of(shorten_middle("a-very-long-name-of-work", room, false)) <= room);
}

TEST_CASE("a table aligns numbers right and cuts no id") {
  Table table({{"NAME", Align::kLeft, 0, true}, {"ID"}, {"GPUS", Align::kRight}});
  table.row({"train", "wl_1", "8"});
  table.row({"x", "wl_20000", "0.25"});
  CHECK(table.text({}) ==
        "NAME    ID         GPUS\n"
        "train   wl_1          8\n"
        "x       wl_20000   0.25\n");
}

TEST_CASE("columns drop in their order where there is no room, and are named") {
  Table table({{"NAME", Align::kLeft, 0, true},
               {"STATE"},
               {"NOTE", Align::kLeft, 2},
               {"CLASS", Align::kLeft, 1}});
  table.row({"a-long-name-of-some-work", "running", "a rather long note about it", "training"});
  const std::string wide = table.text({.columns = 80});
  CHECK(wide.find("not shown") == std::string::npos);
  const std::string narrow = table.text({.columns = 40, .ascii = true});
  CHECK(narrow ==
        "NAME                   STATE    CLASS\n"
        "a-long-na...some-work  running  training\n"
        "not shown, the terminal is narrow: note\n");
  CHECK(table.text({.columns = 20, .ascii = true}).find("note class") != std::string::npos);
}

TEST_CASE("a name has its room back once a column was left out") {
  Table table({{"NAME", Align::kLeft, 0, true}, {"KIND", Align::kLeft, 1}, {"STATE"}});
  table.row({"python3-abcdefgh", "development", "running"});
  CHECK(table.text({.columns = 30, .ascii = true}) ==
        "NAME              STATE\n"
        "python3-abcdefgh  running\n"
        "not shown, the terminal is narrow: kind\n");
}

TEST_CASE("no line of a table is wider than the terminal when it can be helped") {
  Table table({{"NAME", Align::kLeft, 0, true}, {"A", Align::kLeft, 1}, {"B", Align::kLeft, 2}});
  table.row({std::string(60, 'n'), std::string(15, 'a'), std::string(25, 'b')});
  for (std::size_t columns = 20; columns <= 120; ++columns) {
    std::string text = table.text({.columns = columns, .ascii = true});
    text.resize(text.find("not shown") == std::string::npos ? text.size() : text.find("not shown"));
    for (std::size_t from = 0; from < text.size();) {
      const auto end = text.find('\n', from);
      CHECK(end - from <= columns);
      from = end + 1;
    }
  }
}

TEST_CASE("a paragraph is wrapped at words below its label") {
  CHECK(paragraph("note  ", "one two three\x1b", {.columns = 16}) ==
        "note  one two\n      three\\x1b\n");
  CHECK(paragraph("note  ", "a-word-that-is-longer x", {.columns = 12}) ==
        "note  a-word-that-is-longer\n      x\n");
  CHECK(paragraph("note  ", "one two three", {.columns = 12, .plain = true}) ==
        "note  one two three\n");
  CHECK(paragraph("note", "", {}) == "note\n");
}

TEST_CASE("a plain table is fields and values") {
  Table table({{"NAME"}, {"ENDS BY", Align::kLeft, 3}});
  table.row({"a\x1b[2J", "14:00"});
  table.row({"b", ""});
  CHECK(table.text({.columns = 10, .plain = true}) ==
        "name: a\\x1b[2J\nends by: 14:00\n\nname: b\n");
}

TEST_CASE("times stand in the reader's zone, with the day where it is another") {
  setenv("TZ", "Europe/Berlin", 1);
  tzset();
  const Instant when = *parse_time("2026-06-02T12:31:20.000Z");
  CHECK(clock_words(when) == "14:31:20");
  CHECK(short_time_words(when, when + Duration::hours(2)) == "14:31");
  CHECK(short_time_words(when, when + Duration::hours(24)) == "2 Jun 14:31");
  CHECK(short_time_words(when, when + Duration::hours(24 * 365)) == "2 Jun 2026 14:31");
  CHECK(screen_time_words(when) == "Tue 2 Jun 14:31:20 CEST");
  CHECK_FALSE(parse_time("yesterday").has_value());
  setenv("TZ", "UTC", 1);
  tzset();
}

TEST_CASE("durations have two units, money two decimals") {
  CHECK(duration_words(Duration::seconds(29 * 60 + 2)) == "29 min 02 s");
  CHECK(duration_words(Duration::minutes(94)) == "1 h 34 min");
  CHECK(money_words(9'600'000) == "9.60");
  CHECK(money_words(18'471'200'000) == "18,471.20");
  CHECK(gpu_words(250) == "0.25");
  CHECK(gpu_seconds_words(22'560'000'000) == "22,560");
  CHECK(gpu_seconds_words(350'000) == "0.3");
  CHECK(plural(1, "node") == "1 node");
  CHECK(plural(1318, "node") == "1,318 nodes");
}

}  // namespace heddle::cli
