#include <nlohmann/json.hpp>
#include <string>

#include "harness/core/json_dom.h"
#include "harness/core/sha256.h"
#include "harness/store/codec.h"

namespace qfs::store {
namespace {

using nlohmann::json;

std::optional<json> parse(std::string_view text) {
  Result<json> value = parse_json(text, "store");
  if (!value) return std::nullopt;
  return *std::move(value);
}

/// Member `name` of `object` as text; false when it is not one.
bool read_text(const json& object, const char* name, std::string& text) {
  const auto member = object.find(name);
  if (member == object.end() || !member->is_string()) return false;
  text = member->get<std::string>();
  return true;
}

bool read_file_entry(const json& entry, SourceFile& file) {
  if (!entry.is_object() || !read_text(entry, "name", file.name) ||
      !read_text(entry, "sha256", file.sha256)) {
    return false;
  }
  const auto bytes = entry.find("bytes");
  if (bytes == entry.end() || !bytes->is_number_integer()) return false;
  file.bytes = bytes->get<int64_t>();
  return true;
}

/// A prediction's extra without what was observed while it was made.
std::string facts_of_output(const Json& extra) {
  if (extra.text.find(R"("observed")") == extra.text.npos) return extra.text;
  std::optional<json> object = parse(extra.text);
  if (!object || !object->is_object() || object->erase("observed") == 0) return extra.text;
  return object->dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string encode_strings(std::span<const std::string> values) {
  json list = json::array();
  for (const std::string& value : values) list.push_back(value);
  return list.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<std::vector<std::string>> decode_strings(std::string_view text) {
  const std::optional<json> list = parse(text);
  if (!list || !list->is_array()) return std::nullopt;
  std::vector<std::string> values;
  for (const json& value : *list) {
    if (!value.is_string()) return std::nullopt;
    values.push_back(value.get<std::string>());
  }
  return values;
}

std::string encode_document(std::span<const Segment> document) {
  json list = json::array();
  for (const Segment& segment : document) {
    json entry = json::array({segment.text});
    if (!segment.speaker.empty()) entry.push_back(segment.speaker);
    list.push_back(std::move(entry));
  }
  return list.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<std::vector<Segment>> decode_document(std::string_view text) {
  const std::optional<json> list = parse(text);
  if (!list || !list->is_array()) return std::nullopt;
  std::vector<Segment> document;
  for (const json& entry : *list) {
    if (!entry.is_array() || entry.empty() || entry.size() > 2) return std::nullopt;
    for (const json& part : entry) {
      if (!part.is_string()) return std::nullopt;
    }
    Segment& segment = document.emplace_back();
    segment.text = entry[0].get<std::string>();
    if (entry.size() == 2) segment.speaker = entry[1].get<std::string>();
  }
  return document;
}

std::string encode_manifest(const DatasetManifest& manifest) {
  json files = json::array();
  for (const SourceFile& file : manifest.files) {
    files.push_back({{"name", file.name}, {"sha256", file.sha256}, {"bytes", file.bytes}});
  }
  return json{{"name", manifest.name},           {"reader", manifest.reader},
              {"split", manifest.split},         {"view", manifest.view},
              {"text_form", manifest.text_form}, {"licence", manifest.licence},
              {"source", manifest.source},       {"no_redistribution", manifest.no_redistribution},
              {"files", std::move(files)}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<DatasetManifest> decode_manifest(std::string_view text) {
  const std::optional<json> value = parse(text);
  if (!value || !value->is_object()) return std::nullopt;
  DatasetManifest manifest;
  const bool texts =
      read_text(*value, "name", manifest.name) && read_text(*value, "reader", manifest.reader) &&
      read_text(*value, "split", manifest.split) && read_text(*value, "view", manifest.view) &&
      read_text(*value, "text_form", manifest.text_form) &&
      read_text(*value, "licence", manifest.licence) &&
      read_text(*value, "source", manifest.source);
  const auto restricted = value->find("no_redistribution");
  const auto files = value->find("files");
  if (!texts || restricted == value->end() || !restricted->is_boolean() || files == value->end() ||
      !files->is_array()) {
    return std::nullopt;
  }
  manifest.no_redistribution = restricted->get<bool>();
  for (const json& entry : *files) {
    if (!read_file_entry(entry, manifest.files.emplace_back())) return std::nullopt;
  }
  return manifest;
}

std::string output_digest(const Prediction& prediction, const OutputFacts& facts) {
  // Every part has a fixed form or stands after its length, so that different outputs cannot make
  // the same bytes.
  std::string bytes = "qfs-bench/1/output\ntext " + facts.text_sha256;
  bytes += "\nfinish ";
  bytes += to_string(prediction.finish);
  bytes += "\ntokens " + std::to_string(prediction.tokens_in) + " " +
           std::to_string(prediction.tokens_out);
  bytes += "\nrepaired " + std::to_string(prediction.repaired_bytes);
  bytes += "\ntruncation " + (facts.truncation.empty() ? "none" : facts.truncation);
  bytes += "\nprompt " + (facts.prompt_sha256.empty() ? "none" : facts.prompt_sha256);
  const std::string extra = facts_of_output(prediction.extra);
  bytes += "\nextra " + std::to_string(extra.size()) + " " + extra;
  return sha256_hex(bytes);
}

}  // namespace qfs::store
