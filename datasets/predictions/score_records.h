// Score records: what another program measured of predictions, one value or several a line of JSON.
//
// {"id", "metric", "value": 0.83} or {"id", "metric", "values": {"p": 0.8, "r": 0.9}}, optionally
// with "system", "group" and "cluster". Used by `score --import`. Plain, gzip and zstd; "-" is
// standard input. Memory is one record. Errors are `data` with file:line: a missing or unknown
// field, a value that is no finite number, a name that is not made of letters, digits, '_', '.',
// '+' and '-'.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "harness/api/result.h"

namespace qfs::datasets {

struct ScoreRecord {
  std::string id;
  std::string metric;
  std::string system;   ///< empty: none given
  std::string group;    ///< likewise
  std::string cluster;  ///< likewise
  /// Column -> value: the metric's name for "value", "metric.key" for a member of "values".
  std::map<std::string, double> values;
  std::string where;  ///< "file:line"
};

using ScoreRecordSink = std::function<Status(ScoreRecord)>;

Status read_score_records(const std::string& path, const ScoreRecordSink& sink);

}  // namespace qfs::datasets
