// What importers share: a row of a foreign file becomes a prediction, and rows that a re-run
// appended are met only once.
//
// Used by the importers of this folder. What an importer found stands beside the row's own fields,
// so that a user's --fields can still name any of those. Not thread-safe; errors are `data` with
// the row's place.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "datasets/json_access.h"
#include "datasets/predictions/importers/formats.h"
#include "datasets/predictions/importers/importers.h"
#include "datasets/predictions/prediction_fields.h"

namespace qfs::datasets {

/// Fields that name what the importer found, and no others, replaced by the user's.
Result<PredictionFields> importer_fields(const std::map<std::string, std::string>& chosen);

/// The first of these members that is there; nullptr when none is. Names are dotted paths.
const nlohmann::json* first_field(const nlohmann::json& row,
                                  std::initializer_list<std::string_view> names);

/// The text of a chat message: its content, or the texts of its parts without reasoning; null when
/// there is no text at all (a refusal, a tool call).
nlohmann::json message_text(const nlohmann::json& content);

/// Puts what an importer found in a row beside its own fields; null: not there.
void add_found(nlohmann::json& row, nlohmann::json prediction, nlohmann::json id,
               nlohmann::json references);

/// The prediction of a row with what was found, by `fields` of importer_fields.
Result<PredictionRecord> found_prediction(nlohmann::json& row, const PredictionFields& fields,
                                          int64_t number, const JsonPlace& place);

/// Calls add_found; it gets the row's place for errors.
using FindInRow = std::function<Status(nlohmann::json& row, const JsonPlace& place)>;

/// Reads a file that is one JSON object and hands over the elements of its member `list`, objects
/// in which `find` has found what a prediction needs.
Status read_json_rows(const std::string& path, std::string_view list, const UserFields& chosen,
                      const FindInRow& find, const PredictionSink& sink);

}  // namespace qfs::datasets
