// IcuSegmenter: ICU's word boundaries (UAX #29 with its Chinese-Japanese dictionary).
//
// Called through segmenter_options. The dictionary is compiled into ICU's data, so that words
// change with the version, which the signature names. Thread-safe: every call opens its own
// iterator. Fails when ICU has no word rules.
#pragma once

#include "metrics/chinese/segmenter.h"

namespace qfs::metrics {

class IcuSegmenter final : public Segmenter {
 public:
  std::string signature() const override;
  Status segment(std::string_view text, std::vector<std::string_view>& words) const override;
};

}  // namespace qfs::metrics
