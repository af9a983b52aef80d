// What methods of this family train: tensors of a TrainedCompressor, by what the generator makes of
// memory.
//
// Called by the factories of sessions.h. Not thread-safe.
#pragma once

#include <functional>
#include <memory>

#include "methods/compressors/session_compressor.h"
#include "methods/models/prompted/adapter_training.h"

namespace qfs::compressors {

/// SelfCP's. Errors: those of new_selfcp and, where it begins with a file, of read_selfcp.
Result<std::unique_ptr<prompted::TrainedAdapter>> make_selfcp(const prompted::AdapterPlace& place);

/// AutoCompressor's and ICAE's. Errors: those of new_lora_tensors and read_lora_tensors, and
/// `invalid_argument` where a file to begin with has other shapes.
Result<std::unique_ptr<prompted::TrainedAdapter>> make_autocompressor(
    const prompted::AdapterPlace& place);
Result<std::unique_ptr<prompted::TrainedAdapter>> make_icae(const prompted::AdapterPlace& place);

/// A text that AutoCompressor learns as it stands, by a text_plan.
struct LearnedText {
  PromptParts parts;  ///< its content
  Plan plan;
};

/// Of each segment its tokens behind the summaries that it sees, without adapters; labels are all
/// tokens of a text but the first of each half. Errors: those of Compressor::compress.
Result<training::ReadRows> read_texts(const TrainedCompressor& compressor,
                                      std::span<const LearnedText> texts);

/// What stands in front of a text for models that want something there: the token that the
/// tokenizer puts there, or else the one that ends texts.
int32_t begin_id(const architectures::Backbone& backbone);

}  // namespace qfs::compressors
