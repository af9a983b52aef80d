// Arbitrary bytes as prediction, document and query through the surface metrics: well-formed texts
// get finite rows in their ranges, others an error; the fragments equal those of the plain
// procedure.
#include <cmath>
#include <cstdlib>

#include "metrics/catalog.h"
#include "metrics/surface/fragments.h"
#include "tests/support/fuzz.h"

namespace {

using namespace qfs;
using namespace qfs::metrics;

constexpr size_t kMaxBytes = 2048;

/// Newsroom's procedure without the index of places.
std::vector<Fragment> plain_fragments(const WordNumbers& a, const WordNumbers& b) {
  std::vector<Fragment> fragments;
  for (size_t i = 0; i < a.size();) {
    Fragment best;
    for (size_t j = 0; j < b.size();) {
      size_t length = 0;
      while (i + length < a.size() && j + length < b.size() && a[i + length] == b[j + length]) {
        ++length;
      }
      if (length > best.length) best = {i, j, length};
      j += length > 0 ? length : 1;
    }
    if (best.length > 0) fragments.push_back(best);
    i += best.length > 0 ? best.length : 1;
  }
  return fragments;
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {"the cat sat on mars.|the cat sat down on the moon|what's the cat's plan?",
          "会议讨论了预算。|会议讨论了预算。大家同意|预算是什么", "a a a b|a a b a a a b|is it?"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), std::min(size, kMaxBytes));
  const size_t first = std::min(text.find('|'), text.size());
  const size_t second = std::min(text.find('|', first + 1), text.size());
  ScoreItem item;
  item.candidate = text.substr(0, first);
  if (first < text.size()) item.document = text.substr(first + 1, second - first - 1);
  if (second < text.size()) item.query = text.substr(second + 1);
  static const std::vector<std::shared_ptr<const Metric>> metrics = [] {
    std::vector<std::shared_ptr<const Metric>> made;
    for (const char* name :
         {"coverage", "density:segmenter=char", "compression:segmenter=pretok", "novel-ngrams",
          "repetition:count=tokens", "length", "query-coverage"}) {
      made.push_back(*BuiltinMetrics().make(name));
    }
    return made;
  }();
  for (const auto& metric : metrics) {
    const auto rows = metric->measure(std::span(&item, 1));
    if (!rows) continue;
    for (double value : rows->front()) {
      if (!std::isfinite(value) || value < 0) std::abort();
    }
    static_cast<void>(metric->note(item));
  }
  const WordNumbers a(item.candidate.begin(), item.candidate.end());
  const WordNumbers b(text.begin(), text.end());
  if (extractive_fragments(a, b) != plain_fragments(a, b)) std::abort();
  return 0;
}
