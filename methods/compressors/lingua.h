// LLMLingua (Jiang et al. 2023): which tokens of a text are kept, by how surprising a small
// language model finds them.
//
// Called by the session of `llmlingua`. The model is an interface, so that the choice can be tested
// without one. Torch-free; as thread-safe as the model. Errors: those of the model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/api/result.h"

namespace qfs::compressors {

/// The small model. It may hold tokens, behind which it reads.
class SmallLm {
 public:
  virtual ~SmallLm() = default;
  /// How many positions it was made for.
  virtual int64_t positions() const = 0;
  /// -log p of each of `ids` from `first` (at least 1) on, behind what is held and those before
  /// it. `held` of them, those in front, are held from here on.
  virtual Result<std::vector<double>> losses(std::span<const int32_t> ids, int64_t first,
                                             int64_t held = 0) = 0;
  /// What is held loses `count` tokens from `first` on. The others stay as they were read, and what
  /// is read next has the positions behind as many as are left.
  virtual Status forget(int64_t first, int64_t count) = 0;
};

struct LinguaTask {
  int32_t begin = 0;                ///< the token in front, never counted
  std::vector<int32_t> ids;         ///< of one text, or of several, one behind the other
  int64_t target = 0;               ///< tokens to be kept
  int64_t window = 200;             ///< tokens that are chosen from at once
  std::vector<int64_t> texts = {};  ///< lengths of the texts that `ids` are, if they are several
};

/// Exactly `target` tokens (or all): of each window its share, those with the largest loss behind
/// what was kept of earlier windows; ties to the earlier token.
Result<std::vector<int32_t>> keep_exactly(const LinguaTask& task, SmallLm& model);

/// As version 0.1.5 of the tool has it: a token is kept where the loss of the *next* one exceeds a
/// threshold over all losses of the moment, a rest shorter than a window stays whole, and a text
/// shorter than one hardly changes. Where what is kept comes to more than the model's positions,
/// what follows is read behind its beginning and its end, with losses in their old places.
/// `model` holds nothing yet. `invalid_argument`: a text of more tokens than its positions, of
/// which there are fewer than two windows and 10.
Result<std::vector<int32_t>> keep_as_released(const LinguaTask& task, SmallLm& model);

/// The task of those of several texts that the tool goes on with: where the mean loss is largest,
/// until their lengths, each with the token in front, are above the target and 100 more; the one
/// that goes over stays, and so does their order. One text stays in any case. Of a text of more
/// tokens than the model has positions, those behind have no loss.
Result<LinguaTask> texts_as_released(LinguaTask task, SmallLm& model);

/// The windows that the tool goes by: each a list of its texts' lengths.
std::vector<std::vector<int64_t>> released_windows(std::span<const int64_t> texts, int64_t window);

}  // namespace qfs::compressors
