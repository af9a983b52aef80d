#include "datasets/predictions/prediction_fields.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "datasets/python_list.h"
#include "datasets/readers/field_map.h"
#include "harness/core/suggest.h"

namespace qfs::datasets {
namespace {

/// A mapped value: absent, null, a constant, or a member of the record.
struct Found {
  std::optional<std::string> constant;
  nlohmann::json* value = nullptr;
  const JsonPlace* record = nullptr;
  std::string_view name;
  bool last_reader = false;  ///< nothing reads the value after this: its texts need no copies

  std::string take_text(nlohmann::json& text) const {
    return last_reader ? std::move(text.get_ref<std::string&>()) : text.get<std::string>();
  }

  /// Made when an error needs it, which takes longer than finding the value.
  JsonPlace place() const { return value == nullptr ? *record : *record / name; }
  bool absent() const { return !constant && value == nullptr; }
  bool null() const { return value != nullptr && value->is_null(); }
};

Found find(nlohmann::json& record, const std::string& name, const JsonPlace& place) {
  Found found;
  found.record = &place;
  found.name = name;
  if (name.starts_with('=')) {
    found.constant = name.substr(1);
  } else if (!name.empty()) {
    // The record may be changed; find_field serves readers that must not.
    found.value = const_cast<nlohmann::json*>(find_field(record, name));
  }
  return found;
}

Error wrong_type(std::string_view what, std::string_view expected, const Found& found) {
  return data_error(std::string(what) + " must be " + std::string(expected) + ", found " +
                        std::string(describe_type(*found.value)),
                    found.place().to_string());
}

Error no_field(const nlohmann::json& record, std::string_view ours, const std::string& name,
               const JsonPlace& place) {
  std::vector<std::string> names;
  for (const auto& item : record.items()) names.push_back(item.key());
  std::string near;
  if (const auto nearest = nearest_name(name, names)) near = " (did you mean '" + *nearest + "'?)";
  return data_error("missing field '" + name + "'" + near + "; the fields there are: " +
                        list_fields(record) + ". Name it with --fields " + std::string(ours) + "=…",
                    place.to_string());
}

/// Absent and null are the empty text; numbers are allowed for identifiers.
Result<std::string> text_of(const Found& found, std::string_view what, bool identifier = false) {
  if (found.constant) return *found.constant;
  if (found.absent() || found.null()) return std::string();
  if (identifier && found.value->is_number_integer()) return found.value->dump();
  if (!found.value->is_string()) {
    return wrong_type(what, identifier ? "text or a whole number" : "text", found);
  }
  return found.take_text(*found.value);
}

/// Text, or a list of texts, which become lines.
Result<std::optional<std::string>> document_of(const Found& found) {
  if (found.absent() || found.null()) return std::optional<std::string>();
  if (found.value == nullptr || !found.value->is_array()) {
    Result<std::string> text = text_of(found, "the document");
    if (!text) return text.error();
    return std::optional<std::string>(*std::move(text));
  }
  std::string document;
  for (size_t i = 0; i < found.value->size(); ++i) {
    const nlohmann::json& part = (*found.value)[i];
    if (!part.is_string()) {
      return data_error(
          "a part of the document must be text, found " + std::string(describe_type(part)),
          (found.place() / i).to_string());
    }
    if (i > 0) document += '\n';
    document += part.get_ref<const std::string&>();
  }
  return std::optional<std::string>(std::move(document));
}

/// Text, or a list of texts; a text that is the Python repr of a list of strings becomes that list.
Result<std::vector<std::string>> references_of(const Found& found) {
  nlohmann::json& value = *found.value;
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (auto list = parse_python_list(text)) return *std::move(list);
    return std::vector<std::string>{text};
  }
  if (!value.is_array()) {
    return data_error(
        "references must be text or a list of texts, found " + std::string(describe_type(value)),
        found.place().to_string());
  }
  std::vector<std::string> references;
  for (size_t i = 0; i < value.size(); ++i) {
    if (!value[i].is_string()) {
      return data_error("a reference must be text, found " + std::string(describe_type(value[i])),
                        (found.place() / i).to_string());
    }
    references.push_back(found.take_text(value[i]));
  }
  return references;
}

}  // namespace

Result<PredictionFields> make_prediction_fields(const std::map<std::string, std::string>& chosen,
                                                const std::map<std::string, std::string>& usual) {
  PredictionFields fields;
  const std::map<std::string_view, std::string*> members = {{"id", &fields.id},
                                                            {"prediction", &fields.prediction},
                                                            {"references", &fields.references},
                                                            {"document", &fields.document},
                                                            {"query", &fields.query},
                                                            {"group", &fields.group},
                                                            {"cluster", &fields.cluster},
                                                            {"language", &fields.language}};
  std::map<std::string, std::string> all = chosen;
  all.insert(usual.begin(), usual.end());
  for (const auto& [field, name] : all) {
    const auto found = members.find(field);
    if (found == members.end()) {
      std::vector<std::string> known;
      for (const auto& [ours, member] : members) known.emplace_back(ours);
      return invalid_argument("unknown field '" + field + "' of a prediction" +
                              suggestion(field, known));
    }
    if (field == "prediction" && name.empty()) {
      return invalid_argument("the field of the prediction must be named");
    }
    *found->second = name;
    if (chosen.contains(field) && !name.empty()) fields.required.insert(field);
  }
  return fields;
}

Result<PredictionRecord> decode_prediction(nlohmann::json& record, const PredictionFields& fields,
                                           int64_t number, const JsonPlace& place) {
  if (!record.is_object()) {
    return data_error("a prediction must be an object, found " + std::string(describe_type(record)),
                      place.to_string());
  }
  PredictionRecord result;
  result.where = place.to_string();
  std::optional<Error> missing;
  const auto get = [&](std::string_view field, const std::string& name) {
    const Found found = find(record, name, place);
    if (found.absent() && !missing && fields.required.contains(std::string(field))) {
      missing = no_field(record, field, name, place);
    }
    return found;
  };
  Found prediction = get("prediction", fields.prediction);
  Found references = get("references", fields.references);
  Result<std::optional<std::string>> document = document_of(get("document", fields.document));
  if (!document) return document.error();
  result.document = *std::move(document);
  const Found query = get("query", fields.query);
  if (!query.absent() && !query.null()) {
    Result<std::string> text = text_of(query, "the query");
    if (!text) return text.error();
    result.query = *std::move(text);
  }
  struct Target {
    std::string_view field;
    const std::string& name;
    std::string* text;
  };
  for (const Target& target :
       {Target{"id", fields.id, &result.id}, Target{"group", fields.group, &result.group},
        Target{"cluster", fields.cluster, &result.cluster},
        Target{"language", fields.language, &result.language}}) {
    Result<std::string> text = text_of(get(target.field, target.name), target.field, true);
    if (!text) return text.error();
    *target.text = *std::move(text);
  }
  if (missing) return *missing;
  // All other fields have been read. A path may lead from one of these two into the other.
  prediction.last_reader = references.last_reader = prediction.name != references.name &&
                                                    record.contains(prediction.name) &&
                                                    record.contains(references.name);
  if (references.constant) {
    result.references = std::vector<std::string>{*references.constant};
  } else if (!references.absent() && !references.null()) {
    Result<std::vector<std::string>> list = references_of(references);
    if (!list) return list.error();
    result.references_were_repr =
        references.value->is_string() &&
        (list->size() != 1 || list->front() != references.value->get_ref<const std::string&>());
    result.references = *std::move(list);
  }
  if (!prediction.null()) {
    Result<std::string> text = text_of(prediction, "the prediction");
    if (!text) return text.error();
    result.prediction = *std::move(text);
  }
  result.numbered = result.id.empty();
  if (result.numbered) result.id = std::to_string(number);
  return result;
}

}  // namespace qfs::datasets
