// Generator: continues inputs in batches, greedily, by sampling or by beam search.
//
// Called by prompting methods. Inputs of unequal length share a batch; a row that has ended leaves
// it. Whether the logits of a row depend on its batch is the model's matter; what is chosen from
// them does not. Not thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/decoding/decoding.h"
#include "methods/models/decoding/generated.h"
#include "methods/models/decoding/row_mixer.h"
#include "methods/models/nn/model_work.h"
#include "methods/models/nn/sequence_model.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::decoding {

class Generator {
 public:
  /// `work`: the model's, by which GenerationTimes counts it; without it the counts are 0.
  Generator(std::shared_ptr<const tokenizers::VocabularyTokenizer> tokenizer,
            std::unique_ptr<nn::SequenceModel> model, nn::ModelWork work = {});

  const nn::SequenceShape& shape() const { return model_->shape(); }
  const nn::ModelWork& work() const { return work_; }
  /// Adapters for the inputs of this generator's model.
  Result<std::shared_ptr<const nn::Adapters>> bind(const nn::AdapterSet& set) const {
    return model_->bind(set);
  }

  /// SequenceModel::stream_before.
  Result<at::Tensor> stream_before(size_t layer, const nn::SequenceInput& input) {
    return model_->stream_before(layer, input);
  }

  /// `seeds`: of the rows' draws, one an input; may be empty without sampling. Errors:
  /// `invalid_argument` when an input is empty or does not fit the backbone's window together with
  /// the output, or options contradict one another; `data` when the backbone produces a logit that
  /// is infinite or not a number; `out_of_memory`.
  Result<GenerationResult> generate(std::span<const nn::SequenceInput> inputs,
                                    const DecodingOptions& options,
                                    std::span<const uint64_t> seeds = {});

  /// The same with several rows for each output. Of rows that a decoder-only model continues, what
  /// they begin with differs, so rules on the sequence (no_repeat_ngram, lengths) see what is
  /// produced alone. Errors likewise, those of the mixers and of SequenceModel::last_states;
  /// `invalid_argument` for an output without rows.
  Result<GenerationResult> generate_mixed(std::span<const MixedInput> inputs,
                                          const DecodingOptions& options,
                                          std::span<const uint64_t> seeds = {});

 private:
  std::shared_ptr<const tokenizers::VocabularyTokenizer> tokenizer_;
  std::unique_ptr<nn::SequenceModel> model_;
  nn::ModelWork work_;
};

}  // namespace qfs::decoding
