#include "harness/run/length_search.h"

#include <algorithm>

namespace qfs::run {

/// Where memory would be full, if it grew as it did up to the largest length that fitted.
std::optional<int64_t> LengthSearch::predicted() const {
  const int64_t grown = peak_bytes_ - bounds_.model_bytes;
  const int64_t room = bounds_.limit_bytes - bounds_.model_bytes;
  if (bounds_.limit_bytes == 0 || peak_bytes_ == 0 || grown <= 0 || room <= 0) return std::nullopt;
  const double length =
      static_cast<double>(fit_) * static_cast<double>(room) / static_cast<double>(grown);
  if (length >= static_cast<double>(bounds_.to)) return bounds_.to;
  return static_cast<int64_t>(length);
}

std::optional<int64_t> LengthSearch::next() const {
  if (tries_ == 0) return bounds_.from;
  if (fit_ == 0 && fail_ > 1) return fail_ / 2;
  if (fit_ == 0 || fit_ >= bounds_.to) return std::nullopt;
  const auto share = static_cast<int64_t>(bounds_.within * static_cast<double>(fit_));
  const int64_t gap = std::max<int64_t>(1, share);
  if (fail_ > 0 && fail_ - fit_ <= gap) return std::nullopt;
  const std::optional<int64_t> guess = predicted();
  // Strides that double: a prediction that stays a little too low is overtaken in a few tries.
  const int64_t length = guess ? std::max(*guess, fit_ + gap * stride_) : 2 * fit_;
  if (fail_ > 0 && length >= fail_) return fit_ + (fail_ - fit_) / 2;
  return std::min(length, bounds_.to);
}

void LengthSearch::fits(int64_t length, int64_t peak_bytes) {
  constexpr int64_t kLongestStride = int64_t{1} << 20;
  if (++tries_ > 1) stride_ = std::min(2 * stride_, kLongestStride);
  fit_ = length;
  peak_bytes_ = peak_bytes;
}

void LengthSearch::fails(int64_t length) {
  ++tries_;
  stride_ = 1;
  fail_ = length;
}

}  // namespace qfs::run
