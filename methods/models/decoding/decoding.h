// DecodingOptions: how the tokens of an output are chosen and what ends it.
//
// Filled by methods, read by the generator and its searches. Plain data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qfs::decoding {

/// Where nucleus sampling (Holtzman et al. 2020) cuts the tokens, sorted by probability.
enum class NucleusRule {
  reaches,  ///< drops a token when the mass before it reaches top_p: transformers' top_p
  exceeds,  ///< drops it when that mass exceeds top_p: Meta's LLaMA code and IDEAL's
};

/// Draws tokens instead of taking the best.
struct SamplingOptions {
  double temperature = 1;  ///< logits are divided by it, first of all; above 0
  int64_t top_k = 0;       ///< tokens as probable as the k-th are kept; 0: all
  double top_p = 1;        ///< in (0, 1]; 1: all
  NucleusRule nucleus = NucleusRule::reaches;
};

/// When beam search ends before the limit of tokens, as transformers' early_stopping.
enum class EarlyStopping {
  yes,    ///< when `count` hypotheses are finished
  no,     ///< when no running beam, at its present length, can beat the worst of them
  never,  ///< likewise at the length that would favour it most
};

/// Two generations of transformers' beam search, which give different scores and sometimes other
/// winners.
enum class BeamRules {
  /// BeamSearchScorer up to 4.35: the length of a hypothesis counts what the decoder began with and
  /// not the end token; at the limit every running beam becomes a hypothesis.
  scorer,
  /// 5.x: the length counts produced tokens with the end token; at the limit running beams must
  /// rank among the first `count` continuations.
  vectorized,
};

struct BeamOptions {
  int64_t count = 4;          ///< from 2
  double length_penalty = 1;  ///< score = sum of log-probabilities / length^penalty
  EarlyStopping early_stopping = EarlyStopping::no;
  BeamRules rules = BeamRules::vectorized;
};

struct DecodingOptions {
  int64_t max_new_tokens = 128;  ///< the end token counts as one
  int64_t min_new_tokens = 0;    ///< no end token before so many others
  /// No n-gram of ids occurs twice in a row's sequence, with what it began with; 0: no such rule.
  int64_t no_repeat_ngram = 0;
  double repetition_penalty = 1;             ///< of ids that the sequence has; 1: none
  std::optional<int32_t> forced_first = {};  ///< the first token produced (a decoder's BOS)
  std::optional<int32_t> forced_last = {};   ///< the token at max_new_tokens (a decoder's EOS)
  std::vector<int32_t> stop_ids = {};        ///< end a row; not part of its output
  std::vector<std::string> stop_texts = {};  ///< end a row; its text is cut before the first
  bool ignore_stops = false;  ///< always produce max_new_tokens (measuring with a fixed number)
  /// An input that begins as an earlier one of the call, by half of its tokens or more, takes that
  /// beginning from its cache (SequenceInput::shared); decoder-only models.
  bool share_prefixes = false;
  std::optional<SamplingOptions> sampling = {};  ///< not together with beams
  std::optional<BeamOptions> beams = {};
};

/// `options` for outputs of so many tokens at most.
inline DecodingOptions with_new_tokens(DecodingOptions options, int64_t new_tokens) {
  options.max_new_tokens = new_tokens;
  options.min_new_tokens = std::min(options.min_new_tokens, new_tokens);
  return options;
}

}  // namespace qfs::decoding
