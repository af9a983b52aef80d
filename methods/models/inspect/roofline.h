// The most that this machine can do with a model: the measured limits and the times that follow
// from them (Williams et al. 2009), for `qfs-bench doctor --roofline`.
//
// Called by qfs-host between cells. Loads the model, or measures general shapes without one.
// Arguments, all optional: prompt_tokens [N, …], context (tokens that a row holds while it
// decodes; of an encoder-decoder those of its source), batches [N, …]. The answer:
//   threads, rows, dtype (of the products), buffer_bytes
//   read, copy  {best, median, worst, passes}, bytes a second
//   gemm        {flops, products: [{outputs, inputs, count, probed_outputs, libtorch, panels?}]},
//               operations a second; `flops` weights the best rates by the model's shapes
//   model?      {name, kind, layer_elements, step_bytes, cache_bytes_per_token}
//   most        [{phase, tokens | batch and context, weights, flops, bytes, tokens_per_second,
//               bound}]; weights: "as loaded", or the type that they
//               are run in
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/api/json.h"
#include "harness/api/method.h"
#include "harness/api/result.h"

namespace qfs::inspect {

/// `resource` without a path: no model. Errors: those of opening the model; those of
/// configure_torch; `invalid_argument` for lengths that it does not read; `out_of_memory`.
Result<Json> roofline(const Resource& resource, const RuntimeOptions& runtime,
                      const nlohmann::json& arguments);

}  // namespace qfs::inspect
