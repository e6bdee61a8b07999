#include "cli/help.h"
#include "cli/parse.h"

namespace heddle::cli {
namespace {

struct Topic {
  const char* name;
  const char* text;
};

constexpr Topic kTopics[] = {
    {"exit-codes", R"(Exit codes, by cause

    0   done
    1   the answer is no: the job failed, --dry-run found that it would be refused
    2   bad input: a flag, a field, a file
    3   not found, or not for you to see
    4   log in first
    5   not allowed
    6   above a limit, refused by policy
    7   conflict, a stale version
    8   not yet: it still waits, or the time of --timeout is over
    9   the server or its store is away
   10   our fault
  130   interrupted with Ctrl-C

heddle run, and heddle wait --exit-code, pass the job's own code through:

  N     the job ended with N, 128 + N when signal N ended it
  137   it passed its memory ceiling
  143   Heddle ended it: its time limit, a lost part of its gang
  130   it was cancelled
  200 + a code above when Heddle failed before the job could: 202 it could not be
        started, 206 it had to give way, 209 its node was lost
)"},
    {"units", R"(Units that people type

  GPUs      --gpus 4 (whole devices)      --gpu 0.25 (part of one device)
            --gpu-memory 20GiB (a device with that much free)
  memory    20GB (10^9), 20GiB (2^30), 512MiB, 1.5TB; never without a unit
  time      90s  90m  12h  2d
  shares    heddle guarantee set vision 8 --pool h100

Shown: GPUs with up to three decimals, times in your zone (TZ), durations in two
units, money with two decimals. -o json has base units: gpu_milli, memory_bytes,
wait_ms, cost_micros, and times in UTC.
)"},
    {"files", R"(Files that heddle reads

  $XDG_CONFIG_HOME/heddle/config   (or ~/.config/heddle/config, for you alone)
        written by heddle login: servers, tokens, default teams
  ./heddle.toml                    defaults of a project folder:
        team = "vision"
        project = "digits"
        pool = "h100"
        class = "batch"
        server = "https://heddle.example"   (only where you are logged in)

Environment: HEDDLE_SERVER HEDDLE_TEAM HEDDLE_PROJECT HEDDLE_POOL HEDDLE_CLASS
HEDDLE_CA_FILE HEDDLE_TOKEN_FILE HEDDLE_TOKEN HEDDLE_PLAIN NO_COLOR

A flag wins over the environment, that over ./heddle.toml, that over the login.
heddle config --explain names the winner of each.

Job files (heddle submit FILE.yaml) have the fields of the API:

  name: digits
  team: vision
  command: [python3, train.py]
  resources: {gpus: 4, memory: 64GiB}
  nodes: 2
  time_limit: 2h
  files:
    - {path: train.py, from: ./train.py}    # read beside the YAML file
)"},
    {"flags", nullptr},
    {"names", R"(How work is named

  NAME            in your team
  TEAM/NAME       in another of your teams
  wl_...          by its id, for ever

A name belongs to the live work that has it; when nothing live has it, to the work
that had it last. A name that fits several is listed, and nothing is done.
)"},
};

std::string flags_text() {
  std::string out = "Flags of every command\n\n";
  for (const Flag& flag : global_flags()) {
    std::string term = flag.letter != 0 ? std::string("-") + flag.letter + ", " : "    ";
    term += "--" + std::string(flag.name);
    if (!flag.value.empty()) term += " " + std::string(flag.value);
    term.resize(std::max<std::size_t>(term.size() + 2, 24), ' ');
    out += "  " + term + std::string(flag.help) + "\n";
  }
  return out;
}

}  // namespace

std::vector<std::string> help_topics() {
  std::vector<std::string> names;
  for (const Topic& topic : kTopics) names.emplace_back(topic.name);
  return names;
}

std::string help_topic(std::string_view name) {
  for (const Topic& topic : kTopics)
    if (name == topic.name) return topic.text == nullptr ? flags_text() : topic.text;
  return {};
}

}  // namespace heddle::cli
