// Prediction files that are read a line at a time: JSON lines through prediction fields, and plain
// line files (one prediction a line) beside reference files.
//
// Used by `score` and by the importers. Plain, gzip and zstd through LineReader; "-" is standard
// input. Memory is one record; not thread-safe per call, no shared state. Errors are `data` with
// file:line.
#pragma once

#include <string>
#include <vector>

#include "datasets/predictions/prediction.h"
#include "datasets/predictions/prediction_fields.h"

namespace qfs::datasets {

/// Every non-blank line of `path` as a JSON record; `decode` makes predictions of it.
using JsonRecordHandler =
    std::function<Status(nlohmann::json& record, int64_t number, const JsonPlace& place)>;
Status read_json_records(const std::string& path, const JsonRecordHandler& handle);

/// One prediction a JSON line.
Status read_prediction_json_lines(const std::string& path, const PredictionFields& fields,
                                  const PredictionSink& sink);

/// Line i of `predictions` with line i of each reference file (there may be none). Ids are line
/// numbers. Unequal numbers of lines are an error that gives both counts and the first line that
/// looks like a piece of a prediction with a line break inside. With `joined`, the predictions were
/// joined by line breaks, so that an empty last one leaves no line and is added.
Status read_prediction_line_files(const std::string& predictions,
                                  const std::vector<std::string>& references,
                                  const PredictionSink& sink, bool joined = false);

}  // namespace qfs::datasets
