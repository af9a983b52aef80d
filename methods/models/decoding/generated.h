// Generated: an output, and GenerationResult: those of a batch with where the time went.
//
// Returned by the generator. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/prediction.h"
#include "harness/api/work.h"

namespace qfs::decoding {

struct Generated {
  std::vector<int32_t> ids;  ///< produced tokens, the end token excluded
  std::string text;          ///< their bytes, cut at a stop text; possibly ill-formed UTF-8
  FinishReason finish = FinishReason::length;
  std::optional<double> score;  ///< of beam search: see BeamOptions
  int64_t shared_tokens = 0;    ///< of the input that another input's cache gave
  bool by_text = false;         ///< a stop text ended it, not the end token
};

/// Where the time of one call went. Tokens per second of prefill are prefill_tokens over
/// prefill_ns, of decoding decode_tokens over decode_ns.
struct GenerationTimes {
  int64_t prefill_ns = 0;      ///< reading all inputs, up to the logits after their last tokens
  int64_t prefill_tokens = 0;  ///< that were read: without those of shared prefixes
  int64_t first_token_ns = 0;  ///< from the start until every row has its first token
  int64_t decode_ns = 0;       ///< all steps after the first token
  int64_t decode_tokens = 0;   ///< of outputs: one a step, whatever rows it has (beams, mixtures)
  Work prefill_work;
  Work decode_work;

  GenerationTimes& operator+=(const GenerationTimes& other) {
    prefill_ns += other.prefill_ns;
    prefill_tokens += other.prefill_tokens;
    first_token_ns += other.first_token_ns;
    decode_ns += other.decode_ns;
    decode_tokens += other.decode_tokens;
    prefill_work += other.prefill_work;
    decode_work += other.decode_work;
    return *this;
  }
};

struct GenerationResult {
  std::vector<Generated> rows;  ///< in the order of the inputs
  GenerationTimes times;
};

}  // namespace qfs::decoding
