// Console: the reader's terminal or pipe; what may be said, asked and redrawn there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "cli/config/settings.h"
#include "cli/render/table.h"

namespace heddle::cli {

enum class Output : std::uint8_t { kText, kJson, kYaml, kJsonl, kName };

struct ConsoleOptions {
  Output output = Output::kText;
  bool quiet = false;
  bool yes = false;
  bool no_input = false;
  bool plain = false;
  std::string color = "auto";
};

// Results go to standard output, everything else to standard error. One per process: it takes over
// SIGINT, so that Ctrl-C ends the looking in an orderly way.
class Console {
 public:
  Console(ConsoleOptions options, const Environment& environment);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  const ConsoleOptions& options() const { return options_; }
  const Look& look() const { return out_; }      // of standard output
  const Look& err_look() const { return err_; }  // of standard error
  bool out_is_terminal() const { return out_terminal_; }
  bool err_is_terminal() const { return err_terminal_; }
  bool is_text() const { return options_.output == Output::kText; }

  // Results. The text is already safe for a terminal.
  void print(std::string_view text);
  // A line about what happens, silent with --quiet.
  void note(std::string_view line);
  // A line that is shown whatever the flags say.
  void warn(std::string_view line);
  // One line that is redrawn, at most four times a second; nothing where nothing can be redrawn.
  void status(const std::string& line);

  // True if there is somebody to ask.
  bool can_ask() const;
  // A question whose default answer is the harmless one. --yes answers it; without anybody to ask
  // and without --yes it is an error (exit 2) that names the flag.
  Result<bool> confirm(const std::string& question);
  // A line typed by the reader, without its end; nullopt at the end of input or on Ctrl-C.
  std::optional<std::string> ask(const std::string& prompt);
  // The same, not shown while it is typed.
  std::optional<std::string> ask_secret(const std::string& prompt);

  // Readable once Ctrl-C was pressed; take_interrupt() makes it quiet again.
  int interrupt_fd() const { return interrupt_pipe_[0]; }
  bool take_interrupt();

  // `strong("sick")` in bold where colours are on.
  std::string strong(std::string_view text) const;

 private:
  void clear_status();

  ConsoleOptions options_;
  Look out_;
  Look err_;
  bool in_terminal_ = false;
  bool out_terminal_ = false;
  bool err_terminal_ = false;
  bool status_shown_ = false;
  Instant status_at_;
  int interrupt_pipe_[2] = {-1, -1};
};

}  // namespace heddle::cli
