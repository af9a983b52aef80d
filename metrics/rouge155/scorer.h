// Scorer: one candidate against its references, in every variant that the options ask for.
//
// Called by RougeMetric155 and by the evaluation of configuration files. Digit for digit what
// ROUGE-1.5.5 computes for one evaluation. Not thread-safe: it owns the vocabulary its texts share.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "harness/api/result.h"
#include "metrics/rouge155/gram_matcher.h"
#include "metrics/rouge155/options.h"
#include "metrics/rouge155/summary.h"
#include "metrics/rouge155/union_lcs.h"

namespace qfs::metrics::rouge155 {

/// Raw counts of one variant (weights in ROUGE-W).
struct Counts {
  double reference = 0;
  double candidate = 0;
  double hits = 0;

  friend bool operator==(const Counts&, const Counts&) = default;
};

/// Each of five decimals.
struct Triple {
  double recall = 0;
  double precision = 0;
  double f = 0;

  friend bool operator==(const Triple&, const Triple&) = default;
};

/// F of van Rijsbergen from recall and precision; 0 where it is not defined.
double f_measure(double recall, double precision, double alpha);

class Scorer {
 public:
  /// The most pairs of words that ROUGE-S counts in a text.
  static constexpr int64_t kMaxSkipGrams = int64_t{1} << 26;

  /// `check(options)` holds.
  Scorer(Options options, std::shared_ptr<const Lexicon> lexicon);

  Summary encode(const Sentences& sentences);

  /// One row per variant, references pooled or chosen by the formula. Errors: `invalid_argument`
  /// for no reference, a text over the limits above, and for ROUGE-W a reference without words,
  /// where ROUGE-1.5.5 divides by zero and dies.
  Result<std::vector<Counts>> counts(const Summary& candidate, std::span<const Summary> references);

  Triple triple(const Variant& variant, const Counts& counts) const;

  const std::vector<Variant>& variants() const { return variants_; }

 private:
  struct Outcome {
    Counts counts;
    double recall = 0;  ///< by which -f B chooses
  };
  Result<std::vector<Outcome>> against(const Summary& candidate, const Summary& reference);
  Outcome outcome_of(const Variant& variant, const LocalText& reference,
                     const LocalText& candidate);
  Status check_lengths(const Summary& text, std::string_view role) const;

  Options options_;
  std::vector<Variant> variants_;
  Vocabulary vocabulary_;
  LocalTokens local_;
  GramMatcher grams_;
  UnionLcs lcs_;
  WeightedLcs weighted_;
  std::span<const int64_t> ngram_hits_;
  std::vector<LocalId> buffers_[4];
};

}  // namespace qfs::metrics::rouge155
