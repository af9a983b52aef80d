#include "metrics/rouge155/weighted_lcs.h"

#include <algorithm>
#include <cmath>

namespace qfs::metrics::rouge155 {
namespace {

enum Move : char { diagonal, up, left };

}  // namespace

double WeightedLcs::weight(size_t length) {
  while (weights_.size() <= length) {
    weights_.push_back(std::pow(static_cast<double>(weights_.size()), power_));
  }
  return weights_[length];
}

double WeightedLcs::inverse(double weight) const { return std::pow(weight, 1 / power_); }

void WeightedLcs::mark(std::span<const LocalId> reference, std::span<const LocalId> candidate,
                       std::span<char> marks) {
  const size_t columns = candidate.size();
  weight(std::min(reference.size(), columns));
  values_.assign(columns + 1, 0);
  runs_.assign(columns + 1, 0);
  moves_.resize(reference.size() * columns);
  for (size_t i = 0; i < reference.size(); ++i) {
    double diagonal_value = 0;  // of row i - 1, column j - 1
    uint32_t diagonal_run = 0;
    char* moves = moves_.data() + i * columns;
    for (size_t j = 0; j < columns; ++j) {
      const double above = values_[j + 1];
      const uint32_t above_run = runs_[j + 1];
      if (reference[i] == candidate[j]) {
        const uint32_t run = diagonal_run;
        values_[j + 1] = diagonal_value + weights_[run + 1] - weights_[run];
        runs_[j + 1] = run + 1;
        moves[j] = diagonal;
      } else {
        const bool go_up = above >= values_[j];
        values_[j + 1] = go_up ? above : values_[j];
        runs_[j + 1] = 0;
        moves[j] = go_up ? up : left;
      }
      diagonal_value = above;
      diagonal_run = above_run;
    }
  }
  for (size_t i = reference.size(), j = columns; i > 0 && j > 0;) {
    const char move = moves_[(i - 1) * columns + j - 1];
    if (move != left) --i;
    if (move != up) --j;
    if (move == diagonal) marks[i] = 1;
  }
}

}  // namespace qfs::metrics::rouge155
