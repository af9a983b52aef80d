// CharSegmenter and PretokSegmenter: the two segmentations that depend on no dictionary.
//
// Called through segmenter_options. Their words never change with a library's version, which makes
// them the anchors beside which other segmenters are reported. Stateless, thread-safe, cannot fail.
#pragma once

#include "metrics/chinese/segmenter.h"

namespace qfs::metrics {

/// Every code point is a word, but runs of ASCII letters and digits stay whole; white space is left
/// out. For Chinese this is the character ROUGE of LCSTS-style papers.
class CharSegmenter final : public Segmenter {
 public:
  std::string signature() const override { return "seg:char"; }
  Status segment(std::string_view text, std::vector<std::string_view>& words) const override;
};

/// Words lie between white space, as Python's str.split() sees it: for texts segmented elsewhere.
class PretokSegmenter final : public Segmenter {
 public:
  std::string signature() const override { return "seg:pretok"; }
  Status segment(std::string_view text, std::vector<std::string_view>& words) const override;
};

}  // namespace qfs::metrics
