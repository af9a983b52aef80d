#include "methods/models/tokenizers/pipeline/json_overrides.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "methods/models/tokenizers/pipeline/metaspace.h"

namespace qfs::tokenizers {

namespace {

using nlohmann::json;

std::string type_of(const json& part) {
  if (!part.is_object() || !part.contains("type") || !part["type"].is_string()) return "";
  return part["type"].get<std::string>();
}

json member(const json& object, const char* key) {
  return object.is_object() && object.contains(key) ? object[key] : json();
}

/// Whether a normalizer puts marks in front and for spaces, and does nothing else.
bool marks_spaces(const json& normalizer) {
  const std::string type = type_of(normalizer);
  if (type == "Prepend") return member(normalizer, "prepend") == kMetaspace;
  if (type == "Replace") {
    return member(normalizer, "content") == kMetaspace &&
           member(normalizer, "pattern") == json{{"String", " "}};
  }
  const json parts = member(normalizer, "normalizers");
  return type == "Sequence" && parts.is_array() && std::ranges::all_of(parts, marks_spaces);
}

json class_decoder(PrependScheme scheme) {
  json steps = {{{"type", "Replace"}, {"pattern", {{"String", kMetaspace}}}, {"content", " "}},
                {{"type", "ByteFallback"}},
                {{"type", "Fuse"}}};
  if (scheme != PrependScheme::never) {
    steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  return {{"type", "Sequence"}, {"decoders", steps}};
}

}  // namespace

void set_switch(const JsonSwitch& one, json& document) {
  if (!document.is_object() || !document.contains(one.part)) return;
  json& part = document[one.part];
  if (type_of(part) == one.type) part[one.member] = one.value;
}

void set_space_marks(PrependScheme scheme, json& document) {
  if (type_of(member(document, "model")) != "BPE") return;
  const json normalizer = member(document, "normalizer");
  const json pre_tokenizer = member(document, "pre_tokenizer");
  const bool split = type_of(pre_tokenizer) == "Metaspace";
  if (!(normalizer.is_null() ? split : marks_spaces(normalizer))) return;
  if (!(pre_tokenizer.is_null() || split)) return;
  const char* const name = scheme == PrependScheme::always  ? "always"
                           : scheme == PrependScheme::first ? "first"
                                                            : "never";
  document["normalizer"] = nullptr;
  document["pre_tokenizer"] = {{"type", "Metaspace"},
                               {"replacement", kMetaspace},
                               {"prepend_scheme", name},
                               {"split", false}};
  document["decoder"] = class_decoder(scheme);
}

}  // namespace qfs::tokenizers
