#include "metrics/bertscore/token_vectors.h"

#include <algorithm>
#include <cmath>

namespace qfs::metrics {

bool TokenVectors::empty() const {
  return std::ranges::all_of(special, [](bool is_special) { return is_special; });
}

void normalize(TokenVectors& text) {
  const auto width = static_cast<size_t>(text.width);
  for (size_t token = 0; token < text.tokens(); ++token) {
    float* const row = text.vectors.data() + token * width;
    double square = 0;
    for (size_t i = 0; i < width; ++i) square += double{row[i]} * row[i];
    if (square == 0) continue;
    const auto length = static_cast<float>(std::sqrt(square));
    for (size_t i = 0; i < width; ++i) row[i] /= length;
  }
}

}  // namespace qfs::metrics
