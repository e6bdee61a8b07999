// shares, guarantee set, limit set: what a team is promised in a pool, and its ceiling.
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/render/amount.h"
#include "cli/render/escape.h"
#include "cli/render/json.h"
#include "cli/session/session.h"

namespace heddle::cli {
namespace {

using nlohmann::json;

constexpr std::int64_t kMostGpuMilli = 1'000'000'000;

std::string limit_words(const json& share) {
  const auto limit = maybe_number(share, "limit_gpu_milli");
  return limit ? gpu_words(*limit) : "none";
}

int shares(Session& session, const Arguments& arguments) {
  const auto team = session.one_team(arguments);
  if (!team) return session.fail(team.error());
  const auto list = session.list("/v1/teams/" + client::encode_part(*team) + "/shares");
  if (!list) return session.fail(list.error());
  return session.show(*list, [&] {
    Table table({{"POOL", Align::kLeft, 0, true},
                 {"HELD", Align::kRight},
                 {"GUARANTEE", Align::kRight},
                 {"LIMIT", Align::kRight},
                 {"WEIGHT", Align::kRight, 2},
                 {"RANK", Align::kRight, 3}});
    for (const json& share : part(*list, "items"))
      table.row({text(share, "pool_name"), gpu_words(number(share, "held_gpu_milli")),
                 gpu_words(number(share, "guarantee_gpu_milli")), limit_words(share),
                 format_count(number(share, "weight")), format_count(number(share, "rank"))});
    return table.empty() ? std::string("No pools yet.\n") : table.text(session.console().look());
  });
}

// Thousandths as the number that the API takes; at most three decimals, so it is exact in text.
json gpu_number(std::int64_t milli) {
  if (milli % 1000 == 0) return milli / 1000;
  return static_cast<double>(milli) / 1000.0;
}

// Reads the share, changes one amount in it and writes it back if nobody else did meanwhile.
int set_amount(Session& session, const Arguments& arguments, const std::string& key) {
  const std::string& team = arguments.places.at(0);
  const std::string& amount = arguments.places.at(1);
  const std::string pool = session.settings().winner("pool").value;
  if (pool.empty()) {
    Error error{ErrorCode::kInvalidArgument, "in which pool? --pool is missing."};
    error.next = "heddle " + key + " set " + team + " " + amount + " --pool POOL";
    return session.fail(error);
  }
  const bool none = key == "limit" && amount == "none";
  const auto milli = none ? Result<std::int64_t>(0) : parse_thousandths(amount, 0, kMostGpuMilli);
  if (!milli)
    return session.fail({ErrorCode::kInvalidArgument, "the " + key + " " + milli.error().message});
  const std::string path =
      "/v1/teams/" + client::encode_part(team) + "/shares/" + client::encode_part(pool);
  const auto before = session.get(path);
  if (!before) return session.fail(before.error());

  json body{{"guarantee", gpu_number(number(*before, "guarantee_gpu_milli"))},
            {"limit", nullptr},
            {"weight", std::max<std::int64_t>(1, number(*before, "weight"))},
            {"rank", number(*before, "rank")}};
  if (const auto limit = maybe_number(*before, "limit_gpu_milli"))
    body["limit"] = gpu_number(*limit);
  body[key] = none ? json(nullptr) : gpu_number(*milli);
  std::string with;
  if (arguments.has("limit")) {
    const std::string limit = arguments.value("limit");
    const auto most = parse_thousandths(limit, 0, kMostGpuMilli);
    if (!most && limit != "none")
      return session.fail({ErrorCode::kInvalidArgument, "--limit: " + most.error().message});
    body["limit"] = most ? gpu_number(*most) : json(nullptr);
    with = "; limit " + (most ? gpu_words(*most) : "none");
  }

  const std::string was =
      key == "limit" ? limit_words(*before) : gpu_words(number(*before, "guarantee_gpu_milli"));
  const std::string now = none ? "none" : gpu_words(*milli);
  const std::string change = key + " of " + safe(team) + " in " + safe(pool) + ": " + was + " to " +
                             now + " GPUs" + with + "; it holds " +
                             gpu_words(number(*before, "held_gpu_milli")) + ".";
  if (arguments.has("dry-run")) return session.done(*before, "Would change the " + change);
  const auto after = session.write(
      {"PUT", path, Keyed::kNo, "\"" + std::to_string(number(*before, "version")) + "\""}, &body);
  if (!after) return session.fail(after.error());
  return session.done(*after, "Changed the " + change);
}

int guarantee_set(Session& session, const Arguments& arguments) {
  return set_amount(session, arguments, "guarantee");
}

int limit_set(Session& session, const Arguments& arguments) {
  return set_amount(session, arguments, "limit");
}

const std::vector<Flag> kShareFlags{
    {"pool", "POOL", "in this pool", 0, false, Offers::kPool},
    {"dry-run", "", "only say what would change"},
};

}  // namespace

Command shares_command() {
  return {.path = "shares",
          .summary = "what a team is promised, its limit, what it holds",
          .examples = "heddle shares\nheddle shares vision",
          .places = {{"TEAM", 0, 1, Offers::kTeam}},
          .run = &shares};
}

Command guarantee_set_command() {
  return {.path = "guarantee set",
          .summary = "promise a team GPUs of a pool",
          .examples = "heddle guarantee set vision 8 --pool h100",
          .flags = {kShareFlags[0],
                    kShareFlags[1],
                    {"limit", "GPUS", "set the limit as well; none for no limit"}},
          .places = {{"TEAM", 1, 1, Offers::kTeam}, {"GPUS"}},
          .run = &guarantee_set};
}

Command limit_set_command() {
  return {.path = "limit set",
          .summary = "the most that a team may hold in a pool",
          .examples =
              "heddle limit set vision 20 --pool h100\n"
              "heddle limit set vision none --pool h100",
          .flags = kShareFlags,
          .places = {{"TEAM", 1, 1, Offers::kTeam}, {"GPUS"}},
          .run = &limit_set};
}

}  // namespace heddle::cli
