// Ids from canonical JSON: SHA-256 over "qfs-bench/<identity version>/<kind>\n" + text.
// Thread-safe, cannot fail.
#pragma once

#include <string_view>

#include "harness/api/ids.h"
#include "harness/api/json.h"

namespace qfs {

DatasetId make_dataset_id(const Json& canonical);
CellId make_cell_id(const Json& canonical);
NumericsId make_numerics_id(const Json& canonical);
ScoreId make_score_id(const Json& canonical);
/// Of what is scored, and how: `postprocess` is the chain that made the texts, `metric` a signature
/// without it.
ScoreId make_score_id(const CellId& cell, const NumericsId& numerics, const Json& postprocess,
                      std::string_view metric);

}  // namespace qfs
