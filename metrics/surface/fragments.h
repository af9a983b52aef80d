// Extractive fragments: the spans that a summary shares with its document.
//
// Called by FragmentMetric. Source: Grusky, Naaman & Artzi, "Newsroom", NAACL 2018, section 4 and
// figure 1, and the package newsroom (newsroom/analyze/fragments.py). From each position of the
// summary the longest match in the document is taken, first one on ties, and the search goes on
// behind it. As in the package, the document is scanned past a match and not inside it, so that a
// longer match which begins inside a shorter one is not found. Pure; cannot fail.
#pragma once

#include <cstddef>
#include <vector>

#include "metrics/surface/token_encoder.h"

namespace qfs::metrics {

struct Fragment {
  size_t summary = 0;   ///< first word in the summary
  size_t document = 0;  ///< first word in the document
  size_t length = 0;    ///< words, at least 1

  friend bool operator==(const Fragment&, const Fragment&) = default;
};

std::vector<Fragment> extractive_fragments(const WordNumbers& summary, const WordNumbers& document);

}  // namespace qfs::metrics
