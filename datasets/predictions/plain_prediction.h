// PlainPredictionReader: a line that is a prediction record of the usual kind, without a document
// in between.
//
// Called for every line of a prediction file first: texts, lists of texts, nulls and whole numbers
// directly under the fields' names, beside anything that is no object. Whatever else a line holds
// it leaves to parse_json and decode_prediction, which alone word errors; what it takes, they read
// alike. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "datasets/predictions/prediction.h"
#include "datasets/predictions/prediction_fields.h"

namespace qfs::datasets {

class PlainPredictionReader {
 public:
  explicit PlainPredictionReader(const PredictionFields& fields);

  /// `line`: well-formed UTF-8; `number` is the record's id when it has none.
  std::optional<PredictionRecord> read(std::string_view line, int64_t number,
                                       const std::string& where);

 private:
  PredictionFields fields_;
  unsigned required_;  ///< a bit for each field that a line may not lack
  bool usable_;        ///< every name is a plain key, and no two fields read one
  std::string scratch_;
};

}  // namespace qfs::datasets
