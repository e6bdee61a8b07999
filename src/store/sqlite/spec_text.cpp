#include "store/sqlite/spec_text.h"

#include <simdjson.h>

#include <array>
#include <charconv>
#include <utility>

namespace heddle::sqlite {
namespace {

namespace dom = simdjson::dom;

void add(std::string& out, std::int64_t number) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.begin(), digits.end(), number);
  out.append(digits.begin(), end.ptr);
}

void add(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

template <class List, class AddOne>
void add_list(std::string& out, const List& list, AddOne add_one) {
  out += '[';
  bool first = true;
  for (const auto& item : list) {
    if (!std::exchange(first, false)) out += ',';
    add_one(item);
  }
  out += ']';
}

// Reads members; `ok` turns false at the first that is of a wrong kind.
class Reader {
 public:
  bool ok = true;

  void take(dom::element from, std::int64_t& to) { check(from.get_int64().get(to)); }
  void take(dom::element from, bool& to) { check(from.get_bool().get(to)); }
  void take(dom::element from, std::string& to) {
    std::string_view view;
    check(from.get_string().get(view));
    to = view;
  }
  template <class E>
  void take_enum(dom::element from, E& to, int count) {
    std::int64_t number = 0;
    take(from, number);
    ok = ok && number >= 0 && number < count;
    if (ok) to = static_cast<E>(number);
  }
  template <class TakeOne>
  void take_list(dom::element from, TakeOne take_one) {
    dom::array array;
    check(from.get_array().get(array));
    if (!ok) return;
    for (const dom::element item : array) take_one(item);
  }
  // A list of exactly so many elements.
  template <std::size_t n>
  std::array<dom::element, n> take_tuple(dom::element from) {
    std::array<dom::element, n> items;
    std::size_t found = 0;
    take_list(from, [&](dom::element item) {
      if (found < n) items[found] = item;
      ++found;
    });
    ok = ok && found == n;
    return items;
  }

 private:
  void check(simdjson::error_code code) { ok = ok && code == simdjson::SUCCESS; }
};

void take_request(Reader& reader, dom::element from, Request& to) {
  const auto items = reader.take_tuple<5>(from);
  if (!reader.ok) return;
  reader.take(items[0], to.devices);
  reader.take(items[1], to.milli_per_device);
  reader.take(items[2], to.mib_per_device);
  reader.take(items[3], to.cpu_milli);
  reader.take(items[4], to.memory_bytes);
}

void take_file(Reader& reader, dom::element from, FileRef& to) {
  const auto items = reader.take_tuple<4>(from);
  if (!reader.ok) return;
  reader.take(items[0], to.path);
  reader.take(items[1], to.sha256_hex);
  reader.take(items[2], to.bytes);
  reader.take(items[3], to.executable);
}

void take_lists(Reader& reader, std::string_view key, dom::element from, WorkloadSpec& to) {
  if (key == "pools") {
    reader.take_list(from, [&](dom::element item) {
      std::int64_t id = 0;
      reader.take(item, id);
      to.shape.pools.push_back({static_cast<std::uint64_t>(id)});
    });
  } else if (key == "command") {
    reader.take_list(from,
                     [&](dom::element item) { reader.take(item, to.command.emplace_back()); });
  } else if (key == "env") {
    reader.take_list(from, [&](dom::element item) {
      const auto pair = reader.take_tuple<2>(item);
      if (!reader.ok) return;
      auto& variable = to.env.emplace_back();
      reader.take(pair[0], variable.first);
      reader.take(pair[1], variable.second);
    });
  } else if (key == "files") {
    reader.take_list(from,
                     [&](dom::element item) { take_file(reader, item, to.files.emplace_back()); });
  }
}

void take_member(Reader& reader, std::string_view key, dom::element from, WorkloadSpec& to) {
  if (key == "name") return reader.take(from, to.name);
  if (key == "project") return reader.take(from, to.project);
  if (key == "kind") return reader.take_enum(from, to.kind, kWorkloadKindCount);
  if (key == "class") return reader.take_enum(from, to.work_class, kWorkloadClassCount);
  if (key == "priority") return reader.take(from, to.priority);
  if (key == "request") return take_request(reader, from, to.shape.request);
  if (key == "replicas") return reader.take(from, to.shape.replicas);
  if (key == "procs_per_node") return reader.take(from, to.procs_per_node);
  if (key == "time_limit_ms") return reader.take(from, to.time_limit.ms);
  if (key == "grace_ms") return reader.take(from, to.grace.ms);
  if (key == "retries") return reader.take(from, to.retries);
  take_lists(reader, key, from, to);
}

bool parse(std::string_view text, dom::element& root) {
  // Keeps its memory between documents; one for each thread that reads.
  thread_local dom::parser parser;
  return parser.parse(text.data(), text.size()).get(root) == simdjson::SUCCESS;
}

void add_work(std::string& out, const WorkloadSpec& spec) {
  out += ",\"command\":";
  add_list(out, spec.command, [&](const std::string& word) { add(out, word); });
  out += ",\"env\":";
  add_list(out, spec.env, [&](const auto& variable) {
    out += '[';
    add(out, variable.first);
    out += ',';
    add(out, variable.second);
    out += ']';
  });
  out += ",\"files\":";
  add_list(out, spec.files, [&](const FileRef& file) {
    out += '[';
    add(out, file.path);
    out += ',';
    add(out, file.sha256_hex);
    out += ',';
    add(out, file.bytes);
    out += file.executable ? ",true]" : ",false]";
  });
}

void add_shape(std::string& out, const Shape& shape) {
  const Request& r = shape.request;
  out += ",\"request\":";
  add_list(out,
           std::array{r.devices, r.milli_per_device, r.mib_per_device, r.cpu_milli, r.memory_bytes},
           [&](std::int64_t number) { add(out, number); });
  out += ",\"replicas\":";
  add(out, shape.replicas);
  out += ",\"pools\":";
  add_list(out, shape.pools, [&](PoolId id) { add(out, static_cast<std::int64_t>(id.value)); });
}

}  // namespace

bool is_utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

std::string spec_text(const WorkloadSpec& spec) {
  std::string out;
  out.reserve(512);
  auto member = [&](std::string_view key, auto value) {
    out += out.empty() ? "{\"" : ",\"";
    out += key;
    out += "\":";
    add(out, value);
  };
  member("name", std::string_view{spec.name});
  member("project", std::string_view{spec.project});
  member("kind", std::int64_t{static_cast<std::uint8_t>(spec.kind)});
  member("class", std::int64_t{static_cast<std::uint8_t>(spec.work_class)});
  member("priority", spec.priority);
  add_shape(out, spec.shape);
  member("procs_per_node", spec.procs_per_node);
  add_work(out, spec);
  member("time_limit_ms", spec.time_limit.ms);
  member("grace_ms", spec.grace.ms);
  member("retries", spec.retries);
  out += '}';
  return out;
}

std::shared_ptr<const WorkloadSpec> parse_spec_text(std::string_view text) {
  dom::element root;
  dom::object members;
  if (!parse(text, root) || root.get_object().get(members) != simdjson::SUCCESS) return nullptr;
  auto spec = std::make_shared<WorkloadSpec>();
  Reader reader;
  for (const auto& [key, value] : members) {
    take_member(reader, key, value, *spec);
    if (!reader.ok) return nullptr;
  }
  return spec;
}

std::string string_list_text(const std::vector<std::string>& list) {
  std::string out;
  add_list(out, list, [&](const std::string& item) { add(out, std::string_view{item}); });
  return out;
}

std::optional<std::vector<std::string>> parse_string_list(std::string_view text) {
  dom::element root;
  if (!parse(text, root)) return std::nullopt;
  std::vector<std::string> list;
  Reader reader;
  reader.take_list(root, [&](dom::element item) { reader.take(item, list.emplace_back()); });
  if (!reader.ok) return std::nullopt;
  return list;
}

}  // namespace heddle::sqlite
