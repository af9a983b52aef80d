// How long a prediction may be: one limit for what methods return and what files hold, so that no
// text that is stored can end the scoring of others. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/api/result.h"

namespace qfs {

/// 512 KiB: metrics read texts of that many tokens, and no text has more tokens than bytes.
inline constexpr size_t kMaxPredictionBytes = size_t{512} << 10;

/// A `data` error for a text that is no prediction because of its length.
inline Status check_prediction_length(std::string_view text) {
  if (text.size() <= kMaxPredictionBytes) return {};
  return data_error("a prediction of " + std::to_string(text.size()) +
                    " bytes is too long; at most " + std::to_string(kMaxPredictionBytes) +
                    " are kept and scored");
}

}  // namespace qfs
