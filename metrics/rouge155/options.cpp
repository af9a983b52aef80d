#include "metrics/rouge155/options.h"

#include <cmath>

namespace qfs::metrics::rouge155 {

Status check(const Options& options) {
  if (options.max_n < 0 || options.max_n > kMaxN) {
    return invalid_argument("-n is " + std::to_string(options.max_n) + ", expected 0 to " +
                            std::to_string(kMaxN));
  }
  if (!(options.alpha >= 0 && options.alpha <= 1)) {
    return invalid_argument("-p is " + std::to_string(options.alpha) + ", expected 0 to 1");
  }
  if (options.weight && !(options.weight->power > 0 && std::isfinite(options.weight->power))) {
    return invalid_argument("-w is " + options.weight->text + ", expected a number above 0");
  }
  if (options.limit.unit != LimitUnit::none && options.limit.size < 1) {
    return invalid_argument("a length limit is " + std::to_string(options.limit.size) +
                            ", expected at least 1");
  }
  return {};
}

std::vector<Variant> variants(const Options& options) {
  using Kind = Variant::Kind;
  std::vector<Variant> list;
  for (int n = 1; n <= options.max_n; ++n) list.push_back({Kind::ngram, n, std::to_string(n)});
  if (options.lcs) list.push_back({Kind::lcs, 1, "L"});
  if (options.weight) list.push_back({Kind::weighted_lcs, 1, "W-" + options.weight->text});
  if (options.skip) {
    const std::string gap = options.skip->gap < 0 ? "*" : options.skip->gap_text;
    const SkipUnigrams unigrams = options.skip->unigrams;
    if (unigrams != SkipUnigrams::only) list.push_back({Kind::skip, 1, "S" + gap});
    if (unigrams != SkipUnigrams::none) list.push_back({Kind::skip_unigram, 1, "SU" + gap});
  }
  return list;
}

}  // namespace qfs::metrics::rouge155
