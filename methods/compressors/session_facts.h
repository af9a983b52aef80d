// What a row of this family says of itself: what became of its document, and the operations that
// the cell's model took, counted as in harness/core/generation_work.h.
//
// Called by sessions that predict. Pure; thread-safe.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>

#include "methods/compressors/session_compressor.h"
#include "methods/models/nn/sequence_model.h"

namespace qfs::compressors {

/// Ranges, lengths and rows of segments, and the ratio that was achieved.
nlohmann::json facts_of(const PromptParts& parts, const Plan& plan, std::span<const Piece> memory);

/// What a row's model read and wrote.
struct RowWork {
  std::span<const ReadPass> passes;  ///< that compressed, or whose losses choose
  int64_t prompt = 0;                ///< positions that the generator read; 0: it read none
  int64_t new_tokens = 0;            ///< the end token among them
  double beside_token = 0;           ///< multiply-adds of its adapters for each token
};

/// Floating-point operations of passes, without what no position sees; none where a model is of an
/// architecture whose sizes are not known.
std::optional<int64_t> pass_flops(std::span<const ReadPass> passes, const nn::SequenceShape& shape);

/// Adds "flops_eager" and "flops_lean"; nothing where a model is of an architecture whose sizes are
/// not known.
void add_operations(const RowWork& work, const nn::SequenceShape& shape, nlohmann::json& facts);

}  // namespace qfs::compressors
