// Recipe: how a model is trained: order of the data, optimizer, schedule, when it is evaluated and
// when it ends. Pure functions of it say what step N does, so that training can be taken up at any.
//
// Made by methods from their parameters, read by the trainer. Plain data; thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace qfs::training {

enum class DataOrder {
  shuffled,  ///< anew in each epoch
  file,      ///< as the examples stand
};

/// Of the learning rate behind the warm-up.
enum class Schedule { constant, linear, cosine };

struct Recipe {
  uint64_t seed = 0;
  int64_t steps = 1;       ///< of the optimizer
  int64_t batch_size = 8;  ///< examples a step
  DataOrder order = DataOrder::shuffled;
  bool whole_batches = false;  ///< what an epoch leaves of a batch is not read
  /// Tokens that are computed at once, at most, unless one example has more; gradients add up.
  int64_t micro_tokens = 1024;

  double learning_rate = 1e-3;
  Schedule schedule = Schedule::cosine;
  int64_t warmup_steps = 0;
  bool warmup_from_zero = false;  ///< the first step changes nothing, as in IDEAL's release
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  /// Added to the root of the second moment before its bias is corrected, as transformers' own
  /// AdamW did (4.8.1), instead of behind.
  bool epsilon_first = false;
  /// What the learning rate is multiplied by for tensors whose names begin so.
  std::map<std::string, double> rate_factors = {};
  /// AdamW's, decoupled from the gradient (Loshchilov & Hutter 2019), of tensors with more than one
  /// dimension; 0 is Adam.
  double weight_decay = 0;
  std::optional<double> clip_norm;  ///< of all gradients together

  int64_t evaluate_every = 0;  ///< steps between development losses; 0: none
  int64_t patience = 0;        ///< evaluations without a better one that end training; 0: no end
  /// Evaluations in a row without a better one that halve the learning rate; 0: none do.
  int64_t halve_after = 0;
  int64_t checkpoint_every = 20;  ///< steps
};

/// Examples that an epoch reads, of `examples` in all.
int64_t epoch_examples(const Recipe& recipe, int64_t examples);

/// The examples of a step (from 0), of `examples` in all. A batch may begin in one epoch and end in
/// the next, unless they have whole batches only.
std::vector<int64_t> batch_of(const Recipe& recipe, int64_t examples, int64_t step);

/// How many halvings end training, with the epoch in which the last one falls (Mao et al. 2022).
inline constexpr int64_t kHalvings = 3;

/// Whether the last of so many steps in all is the last of an epoch, or has its last examples.
bool ends_epoch(const Recipe& recipe, int64_t examples, int64_t steps);

/// Of a step (from 0): linear up to learning_rate over warmup_steps, from its share of them or from
/// 0, then down to 0, which the step
/// behind the last one would have.
double learning_rate_at(const Recipe& recipe, int64_t step);

/// A batch in parts of at most micro_tokens, longest examples first; `tokens`: of each example of
/// the batch. Indexes into the batch.
std::vector<std::vector<size_t>> micro_batches(const std::vector<int64_t>& tokens,
                                               int64_t micro_tokens);

}  // namespace qfs::training
