// Segmenter: where words begin and end in a text without spaces.
//
// Called by ZhTextEncoder and by the profiles that score segmented Chinese. Implementations are
// stateless after construction and thread-safe. Any bytes are accepted; a segmenter fails only for
// what it needs (a dictionary), never for a text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"

namespace qfs::metrics {

class Segmenter {
 public:
  virtual ~Segmenter() = default;

  /// Everything that can move a boundary, as `seg:icu|icu:72.1|…`.
  virtual std::string signature() const = 0;

  /// Appends the words of `text` in order: views into it that do not overlap. White space is a word
  /// of its own or left out.
  virtual Status segment(std::string_view text, std::vector<std::string_view>& words) const = 0;
};

}  // namespace qfs::metrics
