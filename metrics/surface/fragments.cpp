#include "metrics/surface/fragments.h"

#include <unordered_map>

namespace qfs::metrics {
namespace {

size_t common_length(const WordNumbers& a, size_t i, const WordNumbers& b, size_t j) {
  size_t length = 0;
  while (i + length < a.size() && j + length < b.size() && a[i + length] == b[j + length]) ++length;
  return length;
}

}  // namespace

std::vector<Fragment> extractive_fragments(const WordNumbers& summary,
                                           const WordNumbers& document) {
  // Where the summary's words stand in the document: the scan looks at nothing else.
  std::unordered_map<WordNumber, std::vector<size_t>> places;
  for (WordNumber word : summary) places[word];
  for (size_t j = 0; j < document.size(); ++j) {
    const auto found = places.find(document[j]);
    if (found != places.end()) found->second.push_back(j);
  }
  std::vector<Fragment> fragments;
  for (size_t i = 0; i < summary.size();) {
    Fragment best;
    size_t scanned = 0;  // the document before this is done with
    for (size_t j : places.find(summary[i])->second) {
      if (j < scanned) continue;
      const size_t length = common_length(summary, i, document, j);
      if (length > best.length) best = {i, j, length};
      scanned = j + length;
    }
    if (best.length > 0) fragments.push_back(best);
    i += best.length > 0 ? best.length : 1;
  }
  return fragments;
}

}  // namespace qfs::metrics
