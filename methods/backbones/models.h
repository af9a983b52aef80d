// Which implementation of CausalModel computes a backbone on the device that was asked for.
//
// Called by prompting methods when a session opens. Not thread-safe: devices are process-wide
// state.
#pragma once

#include <memory>

#include "harness/api/method.h"
#include "harness/api/resource_cache.h"
#include "methods/backbones/backbone.h"
#include "methods/backbones/causal_model.h"

namespace qfs::backbones {

/// `runtime` as configure_torch accepted it. Copies of weights on a device are shared through
/// `cache`. Errors: those of copy_to_device, `unavailable`.
Result<std::unique_ptr<CausalModel>> open_model(const Backbone& backbone,
                                                const RuntimeOptions& runtime,
                                                ResourceCache& cache);

}  // namespace qfs::backbones
