// Sites, pools and nodes as the API answers them.
#pragma once

#include <string>
#include <vector>

#include "api/json_writer.h"
#include "api/rights.h"

namespace heddle::api {

void write_site(JsonWriter& json, Rights& rights, const Site& site);
void write_pool(JsonWriter& json, const State& state, Rights& rights, const Pool& pool,
                const std::string& currency);
void write_node(JsonWriter& json, const State& state, Rights& rights, const Node& node);

// What is not enforced in a pool, a sentence for people each; `simulated` when a node of it is.
struct PoolNotes {
  bool simulated = false;
  std::vector<std::string> notes;
};
PoolNotes notes_of(const State& state, PoolId pool);
void write_texts(JsonWriter& json, std::string_view name, const std::vector<std::string>& texts);

}  // namespace heddle::api
