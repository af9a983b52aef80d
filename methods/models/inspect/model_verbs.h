// The host's answers to `qfs-bench model inspect|verify|logits|generate` and `doctor --roofline`.
//
// Called by qfs-host between cells, never inside one. Arguments and answers are JSON objects:
//   inspect, verify  none                                     backbones/model_report.h
//   logits           network, input (verb_arguments.h), top   {ids, logits, top: [{id, text,
//                                                             logit, probability}], windows?}
//   generate         network, input, decoding, seed           {prompt_ids, ids, text, finish,
//                                                             repaired_bytes, times, work, score?,
//                                                             windows?}
//   roofline         backbones/roofline.h                     backbones/roofline.h
// Errors: `invalid_argument` for arguments, those of opening the model otherwise.
#pragma once

#include <string_view>

#include "harness/api/json.h"
#include "harness/api/method.h"
#include "harness/api/result.h"

namespace qfs::inspect {

Result<Json> answer_model_verb(std::string_view verb, const Resource& model,
                               const RuntimeOptions& runtime, const Json& arguments);

}  // namespace qfs::inspect
