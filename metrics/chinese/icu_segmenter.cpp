#include "metrics/chinese/icu_segmenter.h"

#include "harness/core/text/word_breaks.h"

namespace qfs::metrics {

std::string IcuSegmenter::signature() const {
  const IcuVersions versions = icu_versions();
  return "seg:icu|icu:" + versions.library + "|icudata:" + versions.data;
}

Status IcuSegmenter::segment(std::string_view text, std::vector<std::string_view>& words) const {
  return append_icu_words(text, words);
}

}  // namespace qfs::metrics
