#include "cli/manifest.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "cli/config/files.h"
#include "cli/manifest_fields.h"
#include "cli/parse.h"

namespace heddle::cli {
namespace {

using nlohmann::json;

std::string last_part(const std::string& pointer) { return pointer.substr(pointer.rfind('/') + 1); }

// Thrown to leave yaml-cpp's parser, and caught right around it.
struct Refused {
  Error error;
};

// Builds one document from parse events: nothing is expanded, everything is bounded, and every
// value's line is known.
class Builder : public YAML::EventHandler {
 public:
  explicit Builder(std::string file) : file_{std::move(file)} {}

  bool has_document() const { return seen_; }
  json root;
  std::map<std::string, int> lines;

  void OnDocumentStart(const YAML::Mark&) override {
    root = json();
    lines.clear();
    open_.clear();
    values_ = 0;
    seen_ = false;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    no_anchor(mark, anchor);
    place(mark, json(nullptr), "");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "anchors and aliases (& and *) are not taken; write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    no_anchor(mark, anchor);
    no_tag(mark, tag);
    if (wants_key()) return key(mark, value);
    const std::string pointer = child_pointer();
    check_form(mark, pointer, Form::kScalar);
    place(mark, tag == "!" ? json(value) : typed(pointer, value), pointer);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    no_tag(mark, tag);
    open(mark, anchor, json::array());
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    no_tag(mark, tag);
    open(mark, anchor, json::object());
  }
  void OnMapEnd() override { open_.pop_back(); }

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& why) const {
    const char* end = why.ends_with('?') ? "" : ".";
    throw Refused{Error{ErrorCode::kInvalidArgument,
                        file_ + " line " + std::to_string(mark.line + 1) + ": " + why + end}};
  }

 private:
  struct Level {
    json* value;
    std::string pointer;
    std::optional<std::string> key;
  };

  enum class Form { kScalar, kSequence, kMap };

  void check_form(const YAML::Mark& mark, const std::string& pointer, Form form) const {
    const Holds holds = what_holds(pointer);
    const bool fits =
        holds == Holds::kUnknown ||
        (form == Form::kMap        ? holds == Holds::kObject
         : form == Form::kSequence ? holds == Holds::kList
                                   : holds != Holds::kObject && holds != Holds::kList);
    if (fits) return;
    const std::string name = pointer.empty() ? "a job file" : "'" + last_part(pointer) + "'";
    refuse(mark, name + (holds == Holds::kObject ? " holds fields, such as `name: x`"
                         : holds == Holds::kList ? " holds a list, such as [a, b]"
                                                 : " holds one value"));
  }

  void no_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) const {
    if (anchor != 0)
      refuse(mark, "anchors and aliases (& and *) are not taken; write the value out");
  }

  // The parser itself gives plain values `?` and quoted ones `!`.
  void no_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!") refuse(mark, "tags (!!) are not taken");
  }

  bool wants_key() const {
    return !open_.empty() && open_.back().value->is_object() && !open_.back().key;
  }

  void key(const YAML::Mark& mark, const std::string& name) {
    Level& level = open_.back();
    if (level.value->contains(name)) refuse(mark, "'" + name + "' stands there twice");
    const auto known = fields_at(level.pointer);
    if (!known.empty() && std::ranges::find(known, name) == known.end()) {
      const std::string near = nearest(name, known);
      std::string list;
      for (const std::string& field : known) list += (list.empty() ? "" : ", ") + field;
      refuse(mark, "'" + name + "' is not a field here. " +
                       (near.empty() ? "Known are " + list : "Did you mean '" + near + "'?"));
    }
    level.key = name;
  }

  std::string child_pointer() const {
    if (open_.empty()) return "";
    const Level& level = open_.back();
    return level.pointer + "/" +
           (level.value->is_array() ? std::to_string(level.value->size()) : level.key.value_or(""));
  }

  // A plain scalar becomes what its field holds; the text is kept where texts are wanted, so that
  // `env: {LR: 0.10}` stays 0.10.
  static json typed(const std::string& pointer, const std::string& value) {
    switch (what_holds(pointer)) {
      case Holds::kNumber: {
        json number = json::parse(value, nullptr, false);
        return number.is_number() ? number : json(value);
      }
      case Holds::kSwitch:
        if (value == "true" || value == "false") return json(value == "true");
        return json(value);
      default:
        return json(value);
    }
  }

  json& place(const YAML::Mark& mark, json value, std::string pointer) {
    if (++values_ > kManifestValues) refuse(mark, "the document has too many values");
    if (wants_key()) refuse(mark, "a field's name must be a plain text");
    if (pointer.empty()) pointer = child_pointer();
    lines[pointer] = mark.line + 1;
    seen_ = true;
    if (open_.empty()) return root = std::move(value);
    Level& level = open_.back();
    if (level.value->is_array()) {
      level.value->push_back(std::move(value));
      return level.value->back();
    }
    const std::string name = *level.key;
    level.key.reset();
    return (*level.value)[name] = std::move(value);
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, json empty) {
    no_anchor(mark, anchor);
    if (open_.size() >= kManifestDepth) refuse(mark, "the document is nested too deep");
    const std::string pointer = child_pointer();
    check_form(mark, pointer, empty.is_object() ? Form::kMap : Form::kSequence);
    json& placed = place(mark, std::move(empty), pointer);
    open_.push_back({&placed, pointer, std::nullopt});
  }

  std::string file_;
  std::vector<Level> open_;
  std::size_t values_ = 0;
  bool seen_ = false;
};

Error at_line(const std::string& file, int line, const std::string& why) {
  return {ErrorCode::kInvalidArgument, file + " line " + std::to_string(line) + ": " + why};
}

// Puts the content of each `from` in its place.
std::optional<Error> embed_files(json& body, const Manifest& manifest, const std::string& folder) {
  if (!body.contains("files")) return std::nullopt;
  std::size_t total = 0;
  std::size_t index = 0;
  for (json& entry : body["files"]) {
    const std::string pointer = "/files/" + std::to_string(index++);
    if (!entry.is_object() || !entry.contains("from")) continue;
    const int line = manifest.lines.contains(pointer) ? manifest.lines.at(pointer) : 1;
    if (!entry["from"].is_string())
      return at_line(manifest.file, line, "'from' names a local file.");
    if (entry.contains("content") || entry.contains("content_base64"))
      return at_line(manifest.file, line, "a file has either 'from' or its content, not both.");
    std::filesystem::path source = entry["from"].get<std::string>();
    if (source.is_relative()) source = std::filesystem::path(folder) / source;
    const std::string path = entry.value("path", source.filename().string());
    const auto embedded = embedded_file(source.string(), path);
    if (!embedded) return at_line(manifest.file, line, embedded.error().message);
    json whole = json::parse(*embedded);
    total += embedded->size();
    if (entry.contains("executable")) whole["executable"] = entry["executable"];
    entry = std::move(whole);
  }
  if (total > 2 * kEmbeddedBytes)
    return Error{ErrorCode::kTooLarge,
                 manifest.file + ": its files are larger than 512 KiB together."};
  return std::nullopt;
}

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t j = 0; j < 3; ++j)
      three = three << 8U | (j < have ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j)
      out += j <= have ? kDigits[(three >> (18 - 6 * j)) & 63U] : '=';
  }
  return out;
}

}  // namespace

std::string Manifest::where(std::string_view pointer) const {
  std::string at(pointer);
  while (!at.empty() && !lines.contains(at)) at.resize(at.rfind('/'));
  const auto line = lines.find(at);
  return file + (at.empty() || line == lines.end() ? "" : " line " + std::to_string(line->second)) +
         (pointer.empty() ? "" : ", " + std::string(pointer));
}

Result<std::string> embedded_file(const std::string& source, const std::string& path) {
  const auto bytes = read_file(source, kEmbeddedBytes);
  if (!bytes) return bytes.error();
  json entry{{"path", path}, {"executable", is_executable(source)}};
  json as_text(*bytes);
  bool is_text = bytes->find('\0') == std::string::npos;
  if (is_text) {
    // Strict dumping refuses what is not UTF-8; quoting could also double the size of odd bytes.
    try {
      is_text = as_text.dump().size() <= bytes->size() * 3 / 2 + 64;
    } catch (const json::exception&) {
      is_text = false;
    }
  }
  if (is_text)
    entry["content"] = std::move(as_text);
  else
    entry["content_base64"] = base64(*bytes);
  return entry.dump();
}

Result<std::vector<Manifest>> parse_manifests(const std::string& text, const std::string& file,
                                              const std::string& folder) {
  std::vector<Manifest> manifests;
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    Builder builder(file);
    // Empty documents count too: the library reports them without end for some broken files.
    for (std::size_t seen = 0; parser.HandleNextDocument(builder); ++seen) {
      if (seen == kManifestDocuments)
        return Error{ErrorCode::kInvalidArgument, file + ": more than 100 documents in one file."};
      if (!builder.has_document() || builder.root.is_null()) continue;
      if (!builder.root.is_object())
        return at_line(file, 1, "a job file holds fields, such as `name: x`.");
      Manifest manifest{"", builder.lines, file};
      if (auto error = embed_files(builder.root, manifest, folder)) return *error;
      manifest.body = builder.root.dump(-1, ' ', false, json::error_handler_t::replace);
      manifests.push_back(std::move(manifest));
    }
  } catch (const Refused& refused) {
    return refused.error;
  } catch (const YAML::Exception& wrong) {
    return at_line(file, wrong.mark.line + 1, "this is not YAML: " + wrong.msg + ".");
  }
  if (manifests.empty()) return Error{ErrorCode::kInvalidArgument, file + " has no job in it."};
  return manifests;
}

Result<std::vector<Manifest>> read_manifests(const std::string& path) {
  const auto text = read_file(path, kManifestBytes);
  if (!text) return text.error();
  const std::string folder = path == "-" ? "." : std::filesystem::path(path).parent_path().string();
  return parse_manifests(*text, path == "-" ? "standard input" : path, folder);
}

}  // namespace heddle::cli
