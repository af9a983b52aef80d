// How much a model drops in training.
//
// Read from a checkpoint's configuration, or given. Plain data.
#pragma once

namespace qfs::nn {

/// Probabilities in [0, 1).
struct DropoutRates {
  double residual = 0;    ///< of embeddings, and of what blocks add to the residual stream
  double attention = 0;   ///< of attention's weights
  double activation = 0;  ///< of what the second layer of an MLP reads

  bool any() const { return residual > 0 || attention > 0 || activation > 0; }
  friend bool operator==(const DropoutRates&, const DropoutRates&) = default;
};

}  // namespace qfs::nn
