// LengthSearch: which length to try next on the way to the largest that fits into memory. Memory is
// taken to be the model's own bytes and a part that grows with the length, as seen at the largest
// length that fitted; what is proposed is then run, and only runs decide.
//
// Used by the `frontier` command. Pure arithmetic; not thread-safe.
#pragma once

#include <cstdint>
#include <optional>

namespace qfs::run {

struct SearchBounds {
  int64_t from = 1;  ///< tried first; where it does not fit, its half and so on
  int64_t to = 1;    ///< never tried beyond
  /// The search ends when what fails is less than this share longer than what fits.
  double within = 0.05;
  int64_t limit_bytes = 0;  ///< of a process; 0: not known, as on a device
  int64_t model_bytes = 0;  ///< of all files that the method reads as weights
};

class LengthSearch {
 public:
  explicit LengthSearch(const SearchBounds& bounds) : bounds_(bounds) {}

  /// The next length; std::nullopt when the frontier is found.
  std::optional<int64_t> next() const;
  /// `peak_bytes`: of the process; 0 where it is not known.
  void fits(int64_t length, int64_t peak_bytes);
  void fails(int64_t length);

  int64_t largest_fit() const { return fit_; }        ///< 0: none
  int64_t smallest_failure() const { return fail_; }  ///< 0: none
  int64_t peak_bytes() const { return peak_bytes_; }  ///< at the largest that fits
  int tries() const { return tries_; }

 private:
  std::optional<int64_t> predicted() const;

  SearchBounds bounds_;
  int64_t fit_ = 0;
  int64_t fail_ = 0;
  int64_t peak_bytes_ = 0;
  int64_t stride_ = 1;  ///< in steps of `within`; doubles while lengths fit
  int tries_ = 0;
};

}  // namespace qfs::run
