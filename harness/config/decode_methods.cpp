#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/config/sections.h"
#include "harness/core/files.h"
#include "harness/core/suggest.h"
#include "harness/core/utf8.h"

namespace qfs::config {

namespace {

constexpr std::array<std::string_view, 3> kExternalKeys = {"command", "fingerprint", "folder"};

template <class Keys>
bool contains(const Keys& keys, std::string_view key) {
  return std::ranges::find(keys, key) != std::ranges::end(keys);
}

/// A path that stays below the folder it is relative to.
bool stays_below(const std::string& path) {
  const std::filesystem::path parts(path);
  if (parts.is_absolute()) return false;
  return std::none_of(parts.begin(), parts.end(), [](const auto& part) { return part == ".."; });
}

bool is_parameter_name(std::string_view name) {
  if (name.empty() || name[0] < 'a' || name[0] > 'z') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// Of a parameter whose value may be long, so that a file may hold it, the most bytes of that file;
/// 0: of others.
uint64_t most_file_bytes(std::string_view name) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  if (name == "prompt" || name.ends_with("_prompt")) return kMiB;
  if (name == "dictionary" || name == "spelling") return 8 * kMiB;
  return name == "spans" ? 32 * kMiB : 0;
}

bool is_long_text(std::string_view name) { return most_file_bytes(name) > 0; }

/// The file that a parameter's value names, as messages call it; empty: none.
std::string text_file(const std::string& name, const Node& node, const std::string& folder) {
  if (!is_long_text(name) || !node.value().is_object()) return {};
  const auto file = node.value().find("file");
  if (file == node.value().end() || !file->is_string()) return {};
  return (std::filesystem::path(folder) / file->get<std::string>()).string();
}

std::string prompt_file(const Node& node, const std::string& folder, uint64_t most_bytes) {
  static constexpr std::string_view kKeys[] = {"file"};
  node.only_keys(kKeys);
  const auto file = node.require("file");
  if (!file) return {};
  const std::string path = file->text("the path of a file");
  if (node.scope().failure) return {};
  if (!stays_below(path)) {
    file->fail("a parameter's file lies in the sweep file's folder or below; found '" + path + "'");
    return {};
  }
  const std::string full = (std::filesystem::path(folder) / path).string();
  const Result<std::string> text = read_file(full, most_bytes);
  if (!text.ok()) {
    file->fail(text.error().message, text.error().kind);
    return {};
  }
  if (const auto offset = first_ill_formed_utf8(*text)) {
    const auto line =
        1 + std::count(text->begin(), text->begin() + static_cast<int64_t>(*offset), '\n');
    file->fail("'" + full + "':" + std::to_string(line) + ": ill-formed UTF-8 at byte " +
                   std::to_string(*offset) + " of the file",
               ErrorKind::data);
    return {};
  }
  if (text->empty()) file->fail("'" + full + "' is empty");
  return *text;
}

ExternalCommand decode_command(const Node& node) {
  ExternalCommand external;
  if (const auto command = node.require("command")) {
    for (const Node& item : command->items("a program and its arguments as a list of texts")) {
      external.command.push_back(item.text());
    }
  }
  if (const auto fingerprint = node.require("fingerprint")) {
    external.fingerprint = fingerprint->names("a list of file patterns that identify the program");
    for (const std::string& pattern : external.fingerprint) {
      if (!stays_below(pattern)) {
        fingerprint->fail(
            "a fingerprint pattern is relative to the program's folder and stays below "
            "it; found '" +
            pattern + "'");
      }
    }
  }
  if (const auto folder = node.find("folder")) external.folder = folder->text("a folder");
  return external;
}

/// A file, or files by role; into `rows` the rows that train one.
std::map<std::string, std::string> decode_artifacts(const Node& node,
                                                    std::map<std::string, std::string>& rows) {
  if (!node.value().is_object()) return {{"", node.text("a trained file, or files by role")}};
  std::map<std::string, std::string> files;
  for (const auto& [role, member] : node.members()) {
    if (role.empty()) member.fail("names no role");
    if (!member.value().is_object()) {
      files[role] = member.text(R"(a trained file, or {"row": LABEL})");
      continue;
    }
    static constexpr std::string_view kKeys[] = {"row"};
    member.only_keys(kKeys);
    if (const auto row = member.require("row")) rows[role] = row->text("the label of a row");
  }
  if (node.value().empty()) node.fail("names no trained file");
  return files;
}

TrainingEntry decode_training(const Node& node) {
  static constexpr std::string_view kKeys[] = {"development", "init", "train"};
  TrainingEntry training;
  if (!node.is_object(R"(an object such as {"train": {"name": …, "split": "train"}})")) {
    return training;
  }
  node.only_keys(kKeys);
  if (const auto train = node.require("train")) training.train = decode_dataset(*train);
  if (const auto development = node.find("development")) {
    training.development = decode_dataset(*development);
  }
  if (const auto init = node.find("init")) {
    training.init = decode_artifacts(*init, training.init_rows);
  }
  return training;
}

MethodEntry decode_method(const Node& node, const std::string& folder) {
  MethodEntry entry;
  entry.pointer = node.pointer();
  if (!node.is_object(R"(a method such as {"method": "lead"})")) return entry;
  if (const auto method = node.require("method")) entry.method = method->text("a method's name");
  if (const auto label = node.find("label")) {
    entry.label = label->text();
    if (entry.label.find_first_not_of(" \t\r\n") == std::string::npos) {
      label->fail("must not be blank: rows are named by it");
    }
  }
  if (const auto backbone = node.find("backbone")) entry.backbone = backbone->text();
  if (const auto roles = node.find("backbones")) {
    if (roles->is_object(R"(models by role, such as {"extractor": "minilm"})")) {
      for (const auto& [role, member] : roles->members()) {
        entry.backbones[role] = member.text("the name of a model, a folder or a GGUF file");
      }
    }
  }
  if (const auto tokenizer = node.find("tokenizer")) entry.tokenizer = tokenizer->text();
  if (const auto documents = node.find("documents")) {
    constexpr const char* kExpected = "'own', 'other', 'other_memory' or 'other_instruction'";
    const std::string given = documents->text(kExpected);
    if (contains(kDocuments, given)) {
      const auto* const known = std::ranges::find(kDocuments, given);
      entry.documents = static_cast<Documents>(known - std::begin(kDocuments));
    } else {
      documents->fail(std::string("must be ") + kExpected);
    }
  }
  if (const auto training = node.find("training")) entry.training = decode_training(*training);
  if (const auto artifact = node.find("artifact")) {
    entry.artifacts = decode_artifacts(*artifact, entry.artifact_rows);
  }
  const bool external = entry.method == "external";
  if (external) entry.external = decode_command(node);
  for (const auto& [key, member] : node.members()) {
    if (contains(kEntryKeys, key)) continue;
    if (contains(kExternalKeys, key)) {
      if (!external) member.fail("'" + key + "' belongs to methods with \"method\": \"external\"");
      continue;
    }
    check_parameter_name(key, member);
    entry.params.push_back({key, decode_parameter(key, member, folder), member.pointer(),
                            text_file(key, member, folder)});
  }
  return entry;
}

/// The name of a row; an external method without a label is called what its program says, known
/// when planning.
std::string row_name(const MethodEntry& entry) {
  if (!entry.label.empty()) return entry.label;
  return entry.external ? std::string() : entry.method;
}

/// What an entry says, and with "like" what it leaves out as that row has it, but for its label;
/// null leaves a key out. `rows`: of the entries so far, as they were resolved.
nlohmann::json with_likeness(const Node& node, const std::map<std::string, nlohmann::json>& rows) {
  const auto like = node.value().is_object() ? node.find("like") : std::nullopt;
  if (!like) return node.value();
  const std::string name = like->text("the row of another method");
  const auto row = rows.find(name);
  if (row == rows.end()) {
    std::vector<std::string> names;
    for (const auto& [known, entry] : rows) names.push_back(known);
    like->fail("no method above has the row '" + name + "'" + suggestion(name, names));
    return node.value();
  }
  nlohmann::json entry = row->second;
  entry.erase("label");
  for (const auto& [key, member] : node.members()) {
    if (member.value().is_null()) {
      entry.erase(key);
    } else if (key != "like") {
      entry[key] = member.value();
    }
  }
  return entry;
}

bool is_metric_name(std::string_view name) {
  if (name.empty() || name[0] < 'a' || name[0] > 'z') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

}  // namespace

std::vector<ExternalMetricEntry> decode_external_metrics(const Node& node) {
  static constexpr std::string_view kKeys[] = {"command", "fingerprint", "folder",
                                               "timeout_seconds"};
  constexpr int64_t kLongestTimeout = 7 * 24 * 3600;
  std::vector<ExternalMetricEntry> metrics;
  if (!node.is_object("external metrics by name")) return metrics;
  for (const auto& [name, member] : node.members()) {
    if (!is_metric_name(name)) {
      member.fail("'" + name +
                  "' is not a metric's name (a lower-case letter, then lower-case letters, digits "
                  "and '-')");
    }
    if (!member.is_object("a program with its fingerprint")) continue;
    member.only_keys(kKeys);
    ExternalMetricEntry& entry = metrics.emplace_back();
    entry.name = name;
    entry.external = decode_command(member);
    entry.pointer = member.pointer();
    if (const auto timeout = member.find("timeout_seconds")) {
      entry.timeout_seconds = timeout->integer(1, kLongestTimeout);
    }
  }
  return metrics;
}

void check_parameter_name(const std::string& name, const Node& node) {
  if (is_parameter_name(name)) return;
  node.fail("'" + name +
            "' is not a parameter name (a lower-case letter, then lower-case letters, digits and "
            "'_')");
}

ParamValue decode_parameter(const std::string& name, const Node& node, const std::string& folder) {
  const bool long_text = is_long_text(name);
  if (long_text && node.value().is_object()) {
    return prompt_file(node, folder, most_file_bytes(name));
  }
  if (long_text) return node.scalar(R"(a text or {"file": …})");
  // Objects that a method hands on as they are; keys sorted, so that equal ones are equal texts.
  constexpr std::string_view kObjects[] = {"chat_variables", "extra_body", "fields", "headers"};
  const bool object = std::ranges::find(kObjects, name) != std::end(kObjects);
  if (object && node.value().is_object()) return node.value().dump();
  return node.scalar();
}

std::vector<MethodEntry> decode_methods(const Node& node, const std::string& folder) {
  std::vector<MethodEntry> entries;
  std::map<std::string, nlohmann::json> rows;
  for (const Node& item : node.items("a list of methods")) {
    const nlohmann::json said = with_likeness(item, rows);
    MethodEntry entry = decode_method(Node(said, item.pointer(), item.scope()), folder);
    const std::string row = row_name(entry);
    for (const MethodEntry& earlier : entries) {
      if (!row.empty() && row_name(earlier) == row) {
        item.fail("two methods would have the row name '" + row + "' (the other is at " +
                  earlier.pointer + "); give one of them a 'label'");
      }
    }
    if (!row.empty()) rows[row] = said;
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace qfs::config
