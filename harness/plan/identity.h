// What cell_id and numerics_id hash (documented in section "Identity"): canonical JSON of what is
// asked and of how it is computed. Called by make_plan, by run once a host has been probed, and by
// `doctor`.
//
// Thread-safe. Fails only with `internal` (a specification that breaks its contract) and with what
// reading fingerprint files gives.
#pragma once

#include <string>
#include <vector>

#include "harness/api/experiment.h"
#include "harness/api/ids.h"
#include "harness/api/json.h"
#include "harness/api/method.h"
#include "harness/api/result.h"
#include "harness/plan/plan.h"

namespace qfs::plan {

/// A file that an external method rests on.
struct FingerprintFile {
  std::string name;  ///< relative to the method's folder
  std::string sha256;
};

/// The files that the command's `fingerprint` patterns match, sorted and without repetition. A
/// pattern that matches nothing is `not_found`.
Result<std::vector<FingerprintFile>> fingerprint_files(const ExternalCommand& command);

/// Canonical JSON of what a cell asks; the cell's other members must be set. `files`: of an
/// external method. Parameters marked `numerics`, paths and the command are not in it.
Result<Json> cell_identity(const Cell& cell, const PlannedDataset& dataset,
                           const std::vector<FingerprintFile>& files);

/// The same of a training: its parameters, its seed and the data that it learns from and is chosen
/// by.
Result<Json> training_identity(const Training& training, const Plan& plan,
                               const std::vector<FingerprintFile>& files);

/// Equal for two cells of a plan that are computed once: their ids, numerics parameters, the
/// training of the plan that they rest on and the files that they name are the same.
std::string computation_key(const Cell& cell, Stage stage);

struct NumericsIdentity {
  NumericsId id;
  Json identity;  ///< what `id` hashes
};

/// How a cell is computed: the trained files that it really uses, `probe` (facts of the host,
/// canonical JSON of its `probe` reply), the cell's numerics parameters, and the runtime options
/// where its host has them: device, dtype and threads do not concern light hosts, which compute on
/// one thread of the CPU.
Result<NumericsIdentity> numerics_identity(const Cell& cell, const Json& probe,
                                           const RuntimeOptions& runtime,
                                           Stage stage = Stage::predict);

}  // namespace qfs::plan
