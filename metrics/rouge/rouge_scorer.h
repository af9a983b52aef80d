// RougeScorer: ROUGE-1, ROUGE-2, ROUGE-L and summary-level ROUGE-L in the profile
// rouge_score-0.1.2.
//
// Called by RougeMetric and by extractive oracles. Bit-identical to the Python package rouge_score
// 0.1.2 with its default tokenizer, split_summaries and use_stemmer on or off. Texts are valid
// UTF-8 (callers check). Not thread-safe: it owns the vocabulary that its texts share.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "metrics/punkt/sentence_split.h"
#include "metrics/rouge/multi_reference.h"
#include "metrics/rouge/prepared_reference.h"
#include "metrics/text/vocabulary.h"

namespace qfs::metrics {

struct RougeOptions {
  bool stem = true;          ///< NLTK's Porter stemmer, as rouge_score's use_stemmer=True
  SentenceSplit split = {};  ///< of summary-level ROUGE-L; with Punkt, split_summaries=True

  friend bool operator==(const RougeOptions&, const RougeOptions&) = default;
};

/// Every option that can change a digit, as `rouge|key:value|…`.
std::string rouge_signature(const RougeOptions& options);

class RougeScorer {
 public:
  explicit RougeScorer(const RougeOptions& options = {})
      : vocabulary_(options.stem), split_(options.split) {}

  /// Token ids of a text; its lines are the sentences of summary-level ROUGE-L.
  EncodedText encode(std::string_view text);
  /// As above, into a text whose memory is used again.
  void encode(std::string_view text, EncodedText& encoded);

  /// One reference against one candidate. An empty side gives zeros.
  RougeScores score(const EncodedText& reference, const EncodedText& candidate);

  /// The scores against each reference, in their order, and what they were counted over. Errors as
  /// score_multi.
  struct Each {
    std::vector<RougeScores> scores;
    std::vector<RougeLengths> lengths;
  };
  Result<Each> score_each(std::span<const std::string> references, std::string_view candidate);

  /// Per variant the precision, recall and F of the reference with the highest F, the first one on
  /// ties (rouge_score's score_multi). Errors: `invalid_argument` without references and of
  /// check_lcs_size.
  Result<RougeScores> score_multi(std::span<const std::string> references,
                                  std::string_view candidate);

 private:
  Vocabulary vocabulary_;
  SentenceSplit split_;
  PreparedReference prepared_;
  EncodedText candidate_;  ///< scratch, likewise below
  EncodedText reference_;
};

}  // namespace qfs::metrics
