// logs, wait, cancel: following and ending work.
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/work_words.h"
#include "cli/follow.h"
#include "cli/render/amount.h"
#include "cli/render/escape.h"
#include "cli/render/json.h"
#include "cli/session/session.h"

namespace heddle::cli {
namespace {

using nlohmann::json;

Result<std::optional<std::int64_t>> whole(const Arguments& arguments, const char* flag_name,
                                          std::int64_t low, std::int64_t high) {
  if (!arguments.has(flag_name)) return std::optional<std::int64_t>{};
  const auto value = parse_whole(arguments.value(flag_name), low, high);
  if (!value)
    return Error{ErrorCode::kInvalidArgument,
                 "--" + std::string(flag_name) + " " + value.error().message};
  return std::optional<std::int64_t>{*value};
}

Result<FollowOptions> log_options(const Session& session, const Arguments& arguments) {
  FollowOptions options;
  options.tell_states = false;
  options.within = session.timeout();
  if (arguments.has("raw")) options.bytes = LogPrinter::Bytes::kRaw;
  const auto replica = whole(arguments, "replica", 0, 4095);
  if (!replica) return replica.error();
  const auto attempt = whole(arguments, "attempt", 1, 1'000'000);
  if (!attempt) return attempt.error();
  const auto tail = whole(arguments, "tail", 1, 10'000);
  if (!tail) return tail.error();
  options.replica = *replica;
  options.attempt = *attempt;
  options.tail = *tail;
  return options;
}

// Prints what there is of one replica's log.
std::optional<Error> print_pages(Session& session, const std::string& id, std::int64_t replica,
                                 const FollowOptions& options, LogPrinter& printer) {
  const std::string base = work_path(id, "logs") + "?replica=" + std::to_string(replica) +
                           (options.attempt ? "&attempt=" + std::to_string(*options.attempt) : "");
  std::string target = base + (options.tail ? "&tail=" + std::to_string(*options.tail) : "");
  for (;;) {
    const auto page = session.get(target);
    if (!page) return page.error();
    if (flag(*page, "skipped") && !options.tail)
      printer.line(replica, json{{"stream", "heddle"}, {"text", "older lines are no longer kept"}});
    const json& items = part(*page, "items");
    for (const json& line : items) {
      if (session.console().is_text())
        printer.line(replica, line);
      else
        session.console().print(json_line(line, session.console().out_is_terminal()));
    }
    if (items.empty() || flag(*page, "at_end")) return std::nullopt;
    target = base + "&cursor=" + client::encode_part(text(*page, "next_cursor"));
  }
}

int follow_logs(Session& session, const json& work, FollowOptions options) {
  Follower follower(session, work, std::move(options));
  const auto end = follower.follow();
  if (!end) return session.fail(end.error());
  if (*end == FollowEnd::kTime) return info(ErrorCode::kDeadlineExceeded).exit_code;
  if (*end == FollowEnd::kEnded) session.console().note(end_sentence(follower.workload()));
  return 0;  // Ctrl-C ends the looking, and that was all that was asked for
}

int logs(Session& session, const Arguments& arguments) {
  const auto work = find_work(session, arguments.places.front());
  if (!work) return session.fail(work.error());
  auto options = log_options(session, arguments);
  if (!options) return session.fail(options.error());
  if (arguments.has("follow")) return follow_logs(session, *work, std::move(*options));
  const std::int64_t replicas = std::max<std::int64_t>(1, number(*work, "nodes"));
  const std::int64_t first = options->replica.value_or(0);
  const std::int64_t count = options->replica ? 1 : replicas;
  LogPrinter printer(session.console(), options->bytes, count > 1);
  for (std::int64_t replica = first; replica < first + count; ++replica)
    if (auto error = print_pages(session, text(*work, "id"), replica, *options, printer))
      return session.fail(*error);
  if (text(*work, "state") == "waiting" && number(*work, "attempt") == 0)
    session.console().note("no lines yet: " + safe(text(*work, "name")) + " waits. heddle why " +
                           safe(text(*work, "name")));
  return 0;
}

int wait(Session& session, const Arguments& arguments) {
  const std::string target = arguments.value("for", "ended");
  if (target != "ended" && target != "started")
    return session.fail({ErrorCode::kInvalidArgument,
                         "--for " + target + " is not known; it is started or ended."});
  int code = 0;
  for (const std::string& name : arguments.places) {
    const auto work = find_work(session, name);
    if (!work) return session.fail(work.error());
    FollowOptions options;
    options.logs = false;
    options.until_started = target == "started";
    options.within = session.timeout();
    Follower follower(session, *work, options);
    const auto end = follower.follow();
    if (!end) return session.fail(end.error());
    if (*end == FollowEnd::kInterrupted) return 130;
    if (*end == FollowEnd::kTime) {
      session.console().note(safe(name) + " is still " + safe(text(follower.workload(), "state")));
      return info(ErrorCode::kDeadlineExceeded).exit_code;
    }
    if (has_ended(follower.workload())) {
      const int own = end_exit_code(follower.workload());
      const int told = arguments.has("exit-code") ? own : own == 0 ? 0 : 1;
      if (code == 0) code = told;
    }
    if (!session.console().is_text())
      session.show(follower.workload(), [] { return std::string(); });
  }
  return code;
}

std::string loss_of(const json& work) {
  const std::string name = safe(text(work, "team_name")) + "/" + safe(text(work, "name"));
  if (number(work, "held_gpu_milli") == 0) return name + " (waits)";
  return name + " (" + gpu_words(number(work, "held_gpu_milli")) + " GPUs)";
}

int cancel(Session& session, const Arguments& arguments) {
  std::vector<json> all;
  for (const std::string& name : arguments.places) {
    auto work = find_work(session, name);
    if (!work) return session.fail(work.error());
    all.push_back(std::move(*work));
  }
  std::string effect;
  for (const json& work : all) effect += (effect.empty() ? "" : ", ") + loss_of(work);
  if (arguments.has("dry-run")) {
    session.console().print("Would cancel " + effect +
                            ". What they did since their last "
                            "checkpoint would be lost.\n");
    return 0;
  }
  if (all.size() > 1) {
    const auto sure = session.console().confirm("Cancel " + effect + "?");
    if (!sure) return session.fail(sure.error());
    if (!*sure) return 1;
  }
  for (const json& work : all) {
    const json body = json::object();
    const auto after = session.write({"POST", work_path(text(work, "id"), "cancel")}, &body);
    if (!after) return session.fail(after.error());
    const std::string name = safe(text(*after, "name"));
    const std::string words = has_ended(work)     ? name + " had ended already."
                              : has_ended(*after) ? name + " is cancelled."
                                                  : name + " is being stopped.";
    session.done(*after, words);
  }
  return 0;
}

}  // namespace

Command logs_command() {
  return {.path = "logs",
          .summary = "what it printed; -f to follow",
          .examples =
              "heddle logs eval-big\nheddle logs -f eval-big\n"
              "heddle logs eval-big --tail 100 --replica 3",
          .notes =
              "Its output comes on standard output, its errors on standard error. On a\n"
              "terminal only colours pass; everything else that could steer it is shown.",
          .flags = {{"follow", "", "as they come, to the end of the work", 'f'},
                    {"tail", "N", "begin with the last N lines"},
                    {"replica", "N", "only of this replica"},
                    {"attempt", "N", "of this run; the latest when left out"},
                    {"raw", "", "every byte as it is, also on a terminal"},
                    {"team", "TEAM", "in this team", 0, false, Offers::kTeam}},
          .places = {{"NAME", 1, 1, Offers::kWorkload}},
          .run = &logs};
}

Command wait_command() {
  return {.path = "wait",
          .summary = "until it has started or ended",
          .examples =
              "heddle wait eval-big\nheddle wait eval-big --for started --timeout 10m\n"
              "heddle wait eval-big --exit-code",
          .notes = "Exit code 0 when it went well, 1 when it failed, 8 when --timeout was over.",
          .flags = {{"for", "STATE", "started or ended (default)", 0, false, Offers::kWords,
                     "started ended"},
                    {"exit-code", "", "end with the job's own code"},
                    {"team", "TEAM", "in this team", 0, false, Offers::kTeam}},
          .places = {{"NAME", 1, 100, Offers::kWorkload}},
          .run = &wait};
}

Command cancel_command() {
  return {.path = "cancel",
          .summary = "end work, waiting or running",
          .examples = "heddle cancel eval-big\nheddle cancel eval-1 eval-2 --yes",
          .flags = {{"dry-run", "", "only say what would end"},
                    {"team", "TEAM", "in this team", 0, false, Offers::kTeam}},
          .places = {{"NAME", 1, 100, Offers::kWorkload}},
          .run = &cancel};
}

}  // namespace heddle::cli
