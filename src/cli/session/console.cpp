#include "cli/session/console.h"

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/check.h"
#include "cli/render/escape.h"
#include "cli/render/when.h"

namespace heddle::cli {
namespace {

int signal_pipe = -1;  // written by the handler, which may do little else

void on_interrupt(int) {
  const int saved = errno;
  const char byte = 'i';
  if (write(signal_pipe, &byte, 1) != 1) _exit(130);  // nobody listens any more
  errno = saved;
}

std::size_t columns_of(int fd, const Environment& environment) {
  const std::string wanted = environment("COLUMNS");
  std::size_t columns = 0;
  std::from_chars(wanted.data(), wanted.data() + wanted.size(), columns);
  winsize size{};
  if (columns == 0 && ioctl(fd, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  return columns < 20 ? 80 : columns;
}

bool wants_colour(const std::string& when, bool terminal, const Environment& environment) {
  if (when == "always") return true;
  if (when == "never" || !terminal) return false;
  return environment("NO_COLOR").empty() && environment("TERM") != "dumb";
}

// Echo off while it lives.
class Blindfold {
 public:
  Blindfold() {
    if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios blind = before_;
    blind.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    on_ = tcsetattr(STDIN_FILENO, TCSAFLUSH, &blind) == 0;
  }
  ~Blindfold() {
    if (on_) tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  Blindfold(const Blindfold&) = delete;
  Blindfold& operator=(const Blindfold&) = delete;

 private:
  termios before_{};
  bool on_ = false;
};

}  // namespace

Console::Console(ConsoleOptions options, const Environment& environment)
    : options_{std::move(options)} {
  setlocale(LC_CTYPE, "");
  in_terminal_ = isatty(STDIN_FILENO) == 1;
  out_terminal_ = isatty(STDOUT_FILENO) == 1;
  err_terminal_ = isatty(STDERR_FILENO) == 1;
  if (!environment("HEDDLE_PLAIN").empty() && environment("HEDDLE_PLAIN") != "0")
    options_.plain = true;
  const bool ascii = std::strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
  const auto look = [&](int fd, bool terminal) {
    return Look{columns_of(fd, environment), ascii, options_.plain,
                wants_colour(options_.color, terminal, environment) && !options_.plain};
  };
  out_ = look(STDOUT_FILENO, out_terminal_);
  err_ = look(STDERR_FILENO, err_terminal_);

  HEDDLE_CHECK(pipe2(interrupt_pipe_, O_CLOEXEC | O_NONBLOCK) == 0);
  signal_pipe = interrupt_pipe_[1];
  struct sigaction action {};
  action.sa_handler = &on_interrupt;  // no SA_RESTART: a read from the terminal ends, too
  sigaction(SIGINT, &action, nullptr);
}

Console::~Console() {
  clear_status();
  signal(SIGINT, SIG_DFL);
  close(interrupt_pipe_[0]);
  close(interrupt_pipe_[1]);
}

void Console::clear_status() {
  if (!status_shown_) return;
  std::fputs("\r\x1b[K", stderr);
  status_shown_ = false;
}

void Console::print(std::string_view text) {
  clear_status();
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void Console::note(std::string_view line) {
  if (!options_.quiet) warn(line);
}

void Console::warn(std::string_view line) {
  clear_status();
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

void Console::status(const std::string& line) {
  if (!err_terminal_ || options_.plain || options_.quiet) return;
  const Instant now = reader_now();
  if (status_shown_ && now - status_at_ < Duration::millis(250)) return;
  status_at_ = now;
  status_shown_ = true;
  std::fprintf(stderr, "\r\x1b[K%s", shorten_middle(line, err_.columns - 1, err_.ascii).c_str());
  std::fflush(stderr);
}

bool Console::can_ask() const { return in_terminal_ && err_terminal_ && !options_.no_input; }

Result<bool> Console::confirm(const std::string& question) {
  if (options_.yes) return true;
  if (!can_ask()) {
    Error error{ErrorCode::kInvalidArgument,
                question + " There is nobody to ask here, so nothing is done."};
    error.next = "the same with --yes";
    return error;
  }
  const auto answer = ask(question + " y/N > ");
  return answer && (*answer == "y" || *answer == "Y" || *answer == "yes");
}

std::optional<std::string> Console::ask(const std::string& prompt) {
  clear_status();
  std::fputs(prompt.c_str(), stderr);
  std::fflush(stderr);
  std::string line;
  for (;;) {
    pollfd waits[2] = {{STDIN_FILENO, POLLIN, 0}, {interrupt_pipe_[0], POLLIN, 0}};
    if (poll(waits, 2, -1) < 0 && errno != EINTR) return std::nullopt;
    if ((waits[1].revents & POLLIN) != 0) return std::nullopt;
    if ((waits[0].revents & (POLLIN | POLLHUP)) == 0) continue;
    char c = 0;
    if (read(STDIN_FILENO, &c, 1) != 1) return std::nullopt;
    if (c == '\n') return line;
    if (c != '\r' && line.size() < 4096) line += c;
  }
}

std::optional<std::string> Console::ask_secret(const std::string& prompt) {
  std::optional<std::string> answer;
  {
    const Blindfold blindfold;
    answer = ask(prompt);
  }
  std::fputs("\n", stderr);
  return answer;
}

bool Console::take_interrupt() {
  char bytes[16];
  if (read(interrupt_pipe_[0], bytes, sizeof bytes) <= 0) return false;
  if (err_terminal_) std::fputs("\n", stderr);  // behind the ^C that the terminal shows
  return true;
}

std::string Console::strong(std::string_view text) const {
  if (!out_.colour) return std::string(text);
  return "\x1b[1m" + std::string(text) + "\x1b[0m";
}

}  // namespace heddle::cli
