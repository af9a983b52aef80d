// The canonical form of a sweep: what is stored with it and what tells two sweeps apart. Every
// default is written out and every variable replaced; the order of keys, places in the file and the
// folder it lies in do not show. Used by harness/config only; thread-safe.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/api/experiment.h"
#include "harness/api/result.h"

namespace qfs::config {

/// `experiment` with paths as written in the file.
Result<Json> resolved_json(const Experiment& experiment);

}  // namespace qfs::config
