// Baseline: what unrelated texts score with an encoder's layer, by which BERTScore may be rescaled.
//
// Read from the files that bert_score ships (rescale_baseline/LANG/MODEL.tsv: commas, a header
// "LAYER,P,R,F", a row a layer). Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "harness/api/result.h"
#include "metrics/bertscore/greedy_matching.h"

namespace qfs::metrics {

/// The row of `layer`. `data` with file and line when the text is no such file or lacks the layer.
Result<BertScores> read_baseline(std::string_view text, std::string_view source, int64_t layer);

/// (x - b) / (1 - b) for P, R and F each by its own; F is not recomputed, as in bert_score.
BertScores rescaled(const BertScores& scores, const BertScores& baseline);

}  // namespace qfs::metrics
