// Arbitrary bytes through ROUGE's texts: tokens and lines equal those of the plain walk over bytes,
// and scores those of the plain tables.
#include <algorithm>
#include <cstdlib>

#include "metrics/rouge/rouge_scorer.h"
#include "tests/support/fuzz.h"
#include "tests/support/slow_rouge.h"

namespace {

using namespace qfs;

constexpr size_t kMaxBytes = 1024;  // the plain tables are quadratic

void check_tokens(std::string_view text) {
  metrics::Vocabulary vocabulary(false);
  const metrics::EncodedText encoded = vocabulary.encode(text);
  size_t line = 0;
  for (size_t begin = 0; begin <= text.size(); ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const test::Words expected = test::slow_tokens(text.substr(begin, end - begin), false);
    if (line >= encoded.lines() || encoded.line(line).size() != expected.size()) std::abort();
    for (size_t i = 0; i < expected.size(); ++i) {
      if (vocabulary.text(encoded.line(line)[i]) != expected[i]) std::abort();
    }
    begin = end + 1;
  }
  if (line != encoded.lines()) std::abort();
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {
      "The cat sat on the mat.\nIt slept.|A cat was on the mat\nand it was sleeping; the cats sat",
      "a b c a b c\n\na a a|c b a\na b c a", "300\u212A \u0130stanbul’s “x” č|300k istanbul s x\n"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), std::min(size, kMaxBytes));
  check_tokens(text);
  const size_t middle = std::min(text.find('|'), text.size());
  const std::string_view reference = text.substr(0, middle);
  const std::string_view candidate = text.substr(std::min(middle + 1, text.size()));
  for (const bool stem : {true, false}) {
    metrics::RougeScorer scorer({.stem = stem, .split = {}});
    const auto scores = scorer.score(scorer.encode(reference), scorer.encode(candidate));
    if (scores != test::slow_rouge(reference, candidate, stem)) std::abort();
  }
  return 0;
}
