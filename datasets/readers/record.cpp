#include "datasets/readers/record.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "datasets/identity.h"
#include "datasets/segments.h"
#include "harness/core/suggest.h"
#include "harness/core/text/unicode_forms.h"

namespace qfs::datasets {
namespace {

/// A mapped value of a record: a constant, or a member of it.
struct Field {
  std::optional<std::string> constant;
  const nlohmann::json* value = nullptr;  ///< nullptr: not in the data
  JsonPlace place;

  bool absent() const { return !constant && value == nullptr; }
};

Error missing(const nlohmann::json& record, std::string_view field, const std::string& name,
              const JsonPlace& place) {
  std::vector<std::string> names;
  if (record.is_object()) {
    for (const auto& item : record.items()) names.push_back(item.key());
  }
  std::string near;
  if (auto nearest = nearest_name(name, names)) near = " (did you mean '" + *nearest + "'?)";
  std::string what = "missing field '" + name + "'" + near;
  if (name != field) what += ", mapped to " + std::string(field);
  what += "; the fields there are: " + list_fields(record) + ". Map it with \"fields\" (--field " +
          std::string(field) + "=NAME)";
  if (field != "document") {  // which every record has
    what += ", or, when the data have none, write \"" + std::string(field) + "\": \"\" (--field " +
            std::string(field) + "=)";
  }
  return data_error(what, place.to_string());
}

Result<Field> find(const nlohmann::json& record, const FieldMap& fields, std::string_view field,
                   const JsonPlace& place) {
  const FieldRule& rule = fields.find(field)->second;
  Field found;
  found.place = place;
  if (rule.name.starts_with('=')) {
    found.constant = rule.name.substr(1);
  } else if (!rule.name.empty()) {
    found.value = find_field(record, rule.name);
    found.place = place / rule.name;
    if (found.value != nullptr && found.value->is_null()) {
      if (rule.required) {
        return data_error("'" + rule.name + "' (" + std::string(field) +
                              ") is null; an empty text is written \"\"",
                          place.to_string());
      }
      found.value = nullptr;
    }
    if (found.value == nullptr && rule.required) return missing(record, field, rule.name, place);
  }
  return found;
}

Error wrong_type(std::string_view field, std::string_view expected, const nlohmann::json& value,
                 const JsonPlace& place) {
  return data_error(std::string(field) + " must be " + std::string(expected) + ", found " +
                        std::string(describe_type(value)),
                    place.to_string());
}

Result<std::string> text_of(const Field& field, std::string_view name) {
  if (field.constant) return *field.constant;
  if (field.value == nullptr) return std::string();
  if (!field.value->is_string()) return wrong_type(name, "text", *field.value, field.place);
  return field.value->get<std::string>();
}

/// Identifiers may be numbers in the data; they are kept in normalisation form C.
Result<std::string> identifier_of(const Field& field, std::string_view name) {
  if (field.value != nullptr && field.value->is_number_integer()) return field.value->dump();
  Result<std::string> text = text_of(field, name);
  if (!text) return text;
  return nfc(*text);
}

Result<Segment> decode_segment(const nlohmann::json& value, const JsonPlace& place) {
  if (value.is_string()) return Segment{value.get<std::string>(), ""};
  if (!value.is_object()) {
    return wrong_type("a part of the document", "text or {\"speaker\", \"text\"}", value, place);
  }
  Segment segment;
  std::string_view key = value.contains("content") && !value.contains("text") ? "content" : "text";
  Result<std::string> text = text_member(value, key, place);
  if (!text) return text.error();
  segment.text = *std::move(text);
  if (value.contains("speaker")) {
    Result<std::string> speaker = text_member(value, "speaker", place);
    if (!speaker) return speaker.error();
    segment.speaker = *std::move(speaker);
  }
  return segment;
}

Result<std::vector<Segment>> document_of(const Field& field) {
  if (field.constant) return split_document(*field.constant);
  const nlohmann::json& value = *field.value;
  if (value.is_string()) return split_document(value.get_ref<const std::string&>());
  if (!value.is_array()) {
    return wrong_type("the document", "text, a list of texts or a list of {\"speaker\", \"text\"}",
                      value, field.place);
  }
  std::vector<Segment> segments;
  segments.reserve(value.size());
  for (size_t i = 0; i < value.size(); ++i) {
    Result<Segment> segment = decode_segment(value[i], field.place / i);
    if (!segment) return segment.error();
    segments.push_back(*std::move(segment));
  }
  return segments;
}

Result<std::vector<std::string>> references_in(const Field& field) {
  if (field.constant) return std::vector<std::string>{*field.constant};
  std::vector<std::string> references;
  if (field.value == nullptr) return references;
  const nlohmann::json& value = *field.value;
  if (value.is_string()) return std::vector<std::string>{value.get<std::string>()};
  if (!value.is_array()) {
    return wrong_type("references", "text or a list of texts", value, field.place);
  }
  for (size_t i = 0; i < value.size(); ++i) {
    if (!value[i].is_string()) return wrong_type("a reference", "text", value[i], field.place / i);
    references.push_back(value[i].get<std::string>());
  }
  return references;
}

/// References of one field, or of each of several; of these, the blank ones are none unless all
/// are.
Result<std::vector<std::string>> references_of(const nlohmann::json& record, const FieldMap& fields,
                                               const JsonPlace& place) {
  const std::string& names = fields.find("references")->second.name;
  if (names.find(',') == std::string::npos || names.starts_with('=') ||
      find_field(record, names) != nullptr) {
    Result<Field> field = find(record, fields, "references", place);
    if (!field) return field.error();
    return references_in(*field);
  }
  std::vector<std::string> references;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    const FieldMap one = {{"references", {names.substr(begin, end - begin), true}}};
    begin = end + 1;
    Result<Field> field = find(record, one, "references", place);
    if (!field) return field.error();
    Result<std::vector<std::string>> own = references_in(*field);
    if (!own) return own.error();
    std::ranges::copy_if(*own, std::back_inserter(references), [](const std::string& text) {
      return text.find_first_not_of(" \t\r\n") != std::string::npos;
    });
  }
  if (references.empty()) references.emplace_back();
  return references;
}

bool is_language_tag(std::string_view tag) {
  size_t primary = std::min(tag.find('-'), tag.size());
  bool letters = std::ranges::all_of(tag.substr(0, primary), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  bool rest = std::ranges::all_of(tag.substr(primary), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
  return letters && rest && primary >= 2 && primary <= 8 && tag.size() <= 35;
}

}  // namespace

Result<Example> decode_record(const nlohmann::json& record, const FieldMap& fields, int64_t number,
                              const JsonPlace& place) {
  if (!record.is_object()) {
    return data_error("a record must be an object, found " + std::string(describe_type(record)),
                      place.to_string());
  }
  Example example;
  Result<Field> field = find(record, fields, "document", place);
  if (!field) return field.error();
  Result<std::vector<Segment>> document = document_of(*field);
  if (!document) return document.error();
  example.document = *std::move(document);

  field = find(record, fields, "query", place);
  if (!field) return field.error();
  Result<std::string> query = text_of(*field, "the query");
  if (!query) return query.error();
  example.query = *std::move(query);

  Result<std::vector<std::string>> references = references_of(record, fields, place);
  if (!references) return references.error();
  example.references = *std::move(references);

  struct Target {
    std::string_view field;
    std::string* text;
    std::string fallback;
  };
  // In this order: the group of a record without one is its key.
  for (const Target& target :
       {Target{"id", &example.key, std::to_string(number)},
        Target{"document_id", &example.document_id, ""}, Target{"group", &example.group, ""},
        Target{"language", &example.language, "en"}}) {
    field = find(record, fields, target.field, place);
    if (!field) return field.error();
    Result<std::string> text = identifier_of(*field, target.field);
    if (!text) return text.error();
    *target.text = field->absent() ? target.fallback : *std::move(text);
  }
  if (example.key.empty()) return data_error("an id must not be empty", place.to_string());
  if (example.document_id.empty()) {
    example.document_id = "doc-" + document_digest(example.document).substr(0, 12);
  }
  if (example.group.empty()) example.group = example.key;
  if (!is_language_tag(example.language)) {
    return data_error("'" + example.language + "' is not a language tag such as \"en\" or \"zh\"",
                      place.to_string());
  }
  return example;
}

}  // namespace qfs::datasets
