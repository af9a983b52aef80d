// Ids from canonical JSON: SHA-256 over "qfs-bench/<identity version>/<kind>\n" + text.
// Thread-safe, cannot fail.
#pragma once

#include "harness/api/ids.h"
#include "harness/api/json.h"

namespace qfs {

DatasetId make_dataset_id(const Json& canonical);
CellId make_cell_id(const Json& canonical);
NumericsId make_numerics_id(const Json& canonical);
ScoreId make_score_id(const Json& canonical);

}  // namespace qfs
