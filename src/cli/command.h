// Command: one verb of the command line, as data. Parsing, help and completion all read it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

class Session;

// What shell completion offers for a value.
enum class Offers { kNothing, kFile, kWorkload, kTeam, kPool, kNode, kUser, kWords };

struct Flag {
  std::string_view name;   // `gpus`, typed as --gpus
  std::string_view value;  // `N`, shown in help; empty: a switch
  std::string_view help;
  char letter = 0;    // short form, only o q f y h
  bool many = false;  // may be given again and again
  Offers offers = Offers::kNothing;
  std::string_view words = "";  // for kWords: those offered, separated by blanks
};

// Words that are no flags.
struct Place {
  std::string_view name;  // `NAME`
  int least = 1;
  int most = 1;
  Offers offers = Offers::kNothing;
  std::string_view words = "";
};

// What was typed, checked against the command's flags and places.
class Arguments {
 public:
  bool has(std::string_view flag) const;
  // The value of a flag given once (the last one counts), or `otherwise`.
  std::string value(std::string_view flag, std::string_view otherwise = {}) const;
  std::vector<std::string> values(std::string_view flag) const;

  std::vector<std::string> places;   // in order
  std::vector<std::string> program;  // what stood behind `--`, for commands that run something
  std::map<std::string, std::vector<std::string>, std::less<>> flags;  // a switch has no values
};

struct Command {
  std::string_view path;        // `teams create`
  std::string_view summary;     // one line
  std::string_view examples;    // lines, shown first in help
  std::string_view notes = {};  // further lines, may be empty
  std::vector<Flag> flags = {};
  std::vector<Place> places = {};
  bool takes_program = false;  // everything behind `--` is a program with its arguments
  bool needs_setup = true;     // false: works whatever the configuration and the token are
  int (*run)(Session&, const Arguments&) = nullptr;  // the exit code
};

// Every command, in the order of help. The one visible list.
std::span<const Command> commands();

// Flags that every command takes.
std::span<const Flag> global_flags();

}  // namespace heddle::cli
