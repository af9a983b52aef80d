// GreedyGenerator: continues prompts with the most probable token at each step, in batches.
//
// Called by prompting methods. Prompts of unequal length share a batch; a row that has ended leaves
// it. Whether the output of a row depends on its batch is the model's matter. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/api/prediction.h"
#include "harness/api/result.h"
#include "methods/backbones/causal_model.h"
#include "methods/tokenizers/tokenizer.h"

namespace qfs::generation {

struct GreedyOptions {
  int64_t max_new_tokens = 128;
  std::vector<int32_t> stop_ids;        ///< end the row; not part of its output
  std::vector<std::string> stop_texts;  ///< end the row; the text is cut before the first of them
  bool ignore_stops = false;            ///< always produce max_new_tokens (fixed-n measuring)
};

struct Generated {
  std::vector<int32_t> ids;  ///< produced tokens, the end token excluded
  std::string text;          ///< their bytes, cut at a stop text; possibly ill-formed UTF-8
  FinishReason finish = FinishReason::length;
};

/// Where the time of one call went. Tokens per second of prefill are prefill_tokens over
/// prefill_ns, of decoding decode_tokens over decode_ns.
struct GenerationTimes {
  int64_t prefill_ns = 0;  ///< reading all prompts, up to the logits after their last tokens
  int64_t prefill_tokens = 0;
  int64_t first_token_ns = 0;  ///< from the start until every row has its first token
  int64_t decode_ns = 0;       ///< all steps after the first token
  int64_t decode_tokens = 0;   ///< tokens that these steps produced
};

struct GenerationResult {
  std::vector<Generated> rows;  ///< in the order of the prompts
  GenerationTimes times;
};

class GreedyGenerator {
 public:
  GreedyGenerator(std::shared_ptr<const tokenizers::VocabularyTokenizer> tokenizer,
                  std::unique_ptr<backbones::CausalModel> model);

  /// Errors: `invalid_argument` when a prompt is empty or does not fit the backbone's window
  /// together with the output, `data` when the backbone produces a logit that is not a number,
  /// `out_of_memory`.
  Result<GenerationResult> generate(std::span<const std::vector<int32_t>> prompts,
                                    const GreedyOptions& options);

 private:
  std::shared_ptr<const tokenizers::VocabularyTokenizer> tokenizer_;
  std::unique_ptr<backbones::CausalModel> model_;
  std::vector<float> logits_;
};

}  // namespace qfs::generation
