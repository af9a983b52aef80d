// OneKindOfId: the records of one file all have ids of their own, or none has.
//
// Used by the readers of records. The number of a record among others' ids would pair it with an
// example that it is not about. Not thread-safe.
#pragma once

#include <optional>
#include <string>

#include "datasets/predictions/prediction.h"

namespace qfs::datasets {

class OneKindOfId {
 public:
  /// `data` with the place of the record without an id, and of one that has it.
  Status add(const PredictionRecord& record);

 private:
  std::optional<bool> numbered_;
  std::string first_;
};

}  // namespace qfs::datasets
