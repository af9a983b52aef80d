// Counts that follow from sizes alone: trainable parameters of the papers' methods on LLaMA-7B and
// operations of their efficiency table.
//
// Called by verdicts. Pure; thread-safe. A count of something that has no formula here is
// `not_found`; formulas are those of IDEAL's Table 3 and SelfCP's Table 7.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "harness/api/params.h"
#include "harness/api/result.h"
#include "harness/claims/claim.h"
#include "harness/core/generation_work.h"

namespace qfs::claims {

/// What a trained part of a method has, by the method's id and parameters: `lora`, `prompt_tuning`,
/// `parallel_adapter` and `ideal` with rank, length or bottleneck (IDEAL's Table 3).
Result<int64_t> trainable_parameters(const MethodQuery& method, const DecoderSizes& sizes = {});

/// One generation a sequence: full square attention, the output head on every prompt position, a
/// cache, and one step less than new tokens.
struct GenerationWork {
  int64_t prompt_tokens = 0;
  int64_t new_tokens = 0;
  int64_t compressed_tokens = 0;  ///< read by the compressor, without output head
  int64_t connector_rows = 0;     ///< each a product with a width x width matrix
};

/// Multiply-adds.
double multiply_adds(const GenerationWork& work, const DecoderSizes& sizes = {});
/// Two a multiply-add; `elementwise` also counts SiLU and softmax, as calflops does.
double operations(const GenerationWork& work, bool elementwise, const DecoderSizes& sizes = {});

/// The count that a claim names: "trainable_parameters" of its method; "parameters" and
/// "parameter_share" of what `counted` describes; "flops" and "macs" of a generation.
Result<double> count_of(const Claim& claim);

}  // namespace qfs::claims
