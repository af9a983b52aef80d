// What a stored sweep says about the programs that score it: the part of its configuration that
// `score --store` reads again.
//
// Called by the command line. A store can come from a stranger: what is decoded here is started
// only when the user agreed. Stateless; thread-safe. Errors name the store and the JSON pointer.
#pragma once

#include <string>
#include <vector>

#include "harness/api/experiment.h"
#include "harness/api/json.h"
#include "harness/api/result.h"

namespace qfs::config {

struct StoredExternalMetrics {
  std::vector<ExternalMetricEntry> entries;
  HostLimits limits;
};

/// `config`: Experiment::resolved as the store has it; `source` names it in messages. Folders of
/// programs are relative to `folder`, as they were to the sweep file's.
Result<StoredExternalMetrics> stored_external_metrics(const Json& config, const std::string& source,
                                                      const std::string& folder);

}  // namespace qfs::config
