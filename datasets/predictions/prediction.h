// PredictionRecord: one output of somebody's system, as a prediction file holds it.
//
// Made by the readers of this folder and handed to a sink one at a time, so that no file is ever
// held as a whole; `score` is the consumer. Plain data, every string valid UTF-8. A sink's error
// ends the reading and is passed on.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/result.h"

namespace qfs::datasets {

struct PredictionRecord {
  std::string id;                         ///< the file's, else the number of the record, from 1
  bool numbered = false;                  ///< the id is the number
  std::optional<std::string> prediction;  ///< absent: the file says that there is none (null)
  int64_t other_predictions = 0;          ///< more of the example's, which are not scored
  std::optional<std::vector<std::string>> references;
  bool references_were_repr = false;  ///< a Python list as text was read as the list
  std::optional<std::string> document;
  std::optional<std::string> query;
  std::string group;     ///< empty: not given
  std::string cluster;   ///< empty: not given
  std::string language;  ///< empty: not given
  std::string where;     ///< "file:line", for errors about this record

  friend bool operator==(const PredictionRecord&, const PredictionRecord&) = default;
};

using PredictionSink = std::function<Status(PredictionRecord)>;

}  // namespace qfs::datasets
