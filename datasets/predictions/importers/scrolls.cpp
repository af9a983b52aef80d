#include <nlohmann/json.hpp>
#include <utility>

#include "datasets/json_access.h"
#include "datasets/predictions/importers/formats.h"
#include "harness/core/line_reader.h"

namespace qfs::datasets {

// {"id": "text", …} without references; those come from --refs by id.
Status read_scrolls(const std::string& path, const UserFields& chosen, const PredictionSink& sink) {
  if (!chosen.empty()) {
    return invalid_argument("a SCROLLS file maps ids to texts and has no fields to name");
  }
  Result<std::string> text = read_decompressed(path);
  if (!text) return text.error();
  Result<nlohmann::json> root = parse_json(*text, path);
  if (!root) return root.error();
  text->clear();
  if (!root->is_object()) {
    return data_error(
        "a SCROLLS file is one object from id to text, found " + std::string(describe_type(*root)),
        path);
  }
  for (auto& [id, value] : root->items()) {
    PredictionRecord record;
    record.id = id;
    record.where = (JsonPlace{path, ""} / id).to_string();
    if (value.is_string()) {
      record.prediction = std::move(value.get_ref<std::string&>());
    } else if (!value.is_null()) {
      return data_error("the prediction must be text, found " + std::string(describe_type(value)),
                        record.where);
    }
    if (Status status = sink(std::move(record)); !status) return status;
  }
  return {};
}

}  // namespace qfs::datasets
