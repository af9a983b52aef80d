// LLMLingua (Jiang et al. 2023): which tokens of a text are kept, by how surprising a small
// language model finds them.
//
// Called by the session of `llmlingua`. The model is a function, so that the choice can be tested
// without one. Pure; thread-safe; torch-free. Errors: those of the model.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "harness/api/result.h"

namespace qfs::compressors {

/// -log p(ids[t] | ids[0..t)) of every t from `first` (at least 1) on.
using TokenLosses =
    std::function<Result<std::vector<double>>(std::span<const int32_t> ids, int64_t first)>;

struct LinguaTask {
  int32_t begin = 0;                ///< the token in front, never counted
  std::vector<int32_t> ids;         ///< of one text, or of several, one behind the other
  int64_t target = 0;               ///< tokens to be kept
  int64_t window = 200;             ///< tokens that are chosen from at once
  std::vector<int64_t> texts = {};  ///< lengths of the texts that `ids` are, if they are several
};

/// Exactly `target` tokens (or all): of each window its share, those with the largest loss behind
/// what was kept of earlier windows; ties to the earlier token.
Result<std::vector<int32_t>> keep_exactly(const LinguaTask& task, const TokenLosses& losses);

/// As version 0.1.5 of the tool has it: a token is kept where the loss of the *next* one exceeds a
/// threshold over all losses of the moment, a rest shorter than a window stays whole, and a text
/// shorter than one hardly changes.
Result<std::vector<int32_t>> keep_as_released(const LinguaTask& task, const TokenLosses& losses);

/// The task of those of several texts that the tool goes on with: where the mean loss is largest,
/// until their lengths, each with the token in front, are above the target and 100 more; the one
/// that goes over stays, and so does their order. One text stays in any case.
Result<LinguaTask> texts_as_released(LinguaTask task, const TokenLosses& losses);

/// The windows that the tool goes by: each a list of its texts' lengths.
std::vector<std::vector<int64_t>> released_windows(std::span<const int64_t> texts, int64_t window);

}  // namespace qfs::compressors
