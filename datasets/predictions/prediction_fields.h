// Which field of a prediction record is the id, the prediction, the references …, and decoding one
// JSON record with them.
//
// Used by the readers of this folder. Names are keys, dotted paths or JSON pointers as in the field
// map of data sets; "=text" is a constant. Pure; thread-safe; a wrong type, a missing prediction or
// a missing field that the user named is a `data` error with its place and the nearest field name.
#pragma once

#include <map>
#include <set>
#include <string>

#include "datasets/json_access.h"
#include "datasets/predictions/prediction.h"

namespace qfs::datasets {

/// What the record calls each of our fields; empty: it has none.
struct PredictionFields {
  std::string id = "id";
  std::string prediction = "prediction";
  std::string references = "references";
  std::string document = "document";
  std::string query = "query";
  std::string group = "group";
  std::string cluster = "cluster";
  std::string language = "language";
  std::set<std::string> required = {"prediction"};  ///< ours that no record may lack; null is there
};

/// Every field under its own name, replaced by `usual` and by the user's choices, which are then
/// required; an unknown field of ours is `invalid_argument` with the nearest.
Result<PredictionFields> make_prediction_fields(
    const std::map<std::string, std::string>& chosen,
    const std::map<std::string, std::string>& usual = {});

/// One record, out of which its texts are moved; `number` is its id when it has none.
Result<PredictionRecord> decode_prediction(nlohmann::json& record, const PredictionFields& fields,
                                           int64_t number, const JsonPlace& place);

}  // namespace qfs::datasets
