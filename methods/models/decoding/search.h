// Search: how one output is found: which tokens its rows take next, given the logits.
//
// Made per input and driven by the generator, which computes the rows of all searches together.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/decoding/decoding.h"
#include "methods/models/decoding/generated.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::decoding {

/// A row of the next step: it goes on from a row of this step with a token.
struct Continuation {
  int64_t source = 0;  ///< index among the rows whose logits were given
  int32_t token = 0;
};

class Search {
 public:
  virtual ~Search() = default;

  /// Takes the logits [rows, vocabulary] that follow the present rows: one row after the input was
  /// read, then those that the last call returned; changes them. Returns the rows of the next step,
  /// none when the search is over. `data`: a logit is +infinity or not a number, or no token may
  /// follow.
  virtual Result<std::vector<Continuation>> advance(std::span<float> logits) = 0;

  /// The output; once, when the search is over.
  virtual Generated take() = 0;
};

/// What a search is about. The references outlive it.
struct SearchInput {
  const tokenizers::VocabularyTokenizer& tokenizer;
  const DecodingOptions& options;
  std::span<const int32_t> begun;  ///< the prompt, or what the decoder began with
  int64_t vocabulary = 0;
  uint64_t seed = 0;  ///< of this row's draws
};

/// The most probable token at each step, or a drawn one.
std::unique_ptr<Search> make_single_search(const SearchInput& input);
/// options.beams must be given.
std::unique_ptr<Search> make_beam_search(const SearchInput& input);

/// The `data` error of logits that nothing can be chosen from.
Error damaged_logits();
/// That error when a logit is +infinity or not a number.
Status check_logits(std::span<const float> logits);
/// The `data` error of a step at which the rules ban every token.
Error no_token_left();

}  // namespace qfs::decoding
