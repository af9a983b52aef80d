// JiebaHmm: words among characters that the dictionary does not join, by a hidden Markov model over
// the four positions B(egin), E(nd), M(iddle), S(ingle).
//
// Called by JiebaSegmenter. Equal to jieba 0.42.1, finalseg: the same additions in the same order,
// so that ties, which its max() decides for the later letter, fall alike. The probabilities come
// with jieba and are read from its files. Immutable, thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"

namespace qfs::metrics {

class JiebaHmm {
 public:
  /// Source of finalseg/prob_start.py, prob_trans.py and prob_emit.py; `folder` for messages.
  static Result<JiebaHmm> parse(std::string_view start, std::string_view transitions,
                                std::string_view emissions, const std::string& folder);

  /// Appends the length of each word of `text` (code points, all of kFirst..kLast).
  void segment(std::u32string_view text, std::vector<size_t>& lengths) const;

  /// The characters that the model is asked about; others never reach it.
  static constexpr char32_t kFirst = 0x4E00;
  static constexpr char32_t kLast = 0x9FD5;

 private:
  static constexpr size_t kStates = 4;
  using PerState = std::array<double, kStates>;

  PerState start_{};
  std::array<PerState, kStates> transitions_{};  ///< [from][to]
  std::vector<PerState> emissions_;              ///< by code point - kFirst
};

}  // namespace qfs::metrics
