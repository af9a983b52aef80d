// Every way of computing `rouge` over one corpus: stemming x sentence split x policy x aggregate.
//
// Called by `score --match`. Each pair of texts is scored once a stemming and split; policies and
// aggregates are made of those scores. Uses up to `threads` threads; errors as RougeMetric's.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/api/metric.h"
#include "metrics/rouge/rouge_metric.h"

namespace qfs::metrics {

struct RougeVariant {
  std::string name;           ///< of the RougeMetric that gives these values
  std::vector<Score> values;  ///< corpus values of the twelve columns
};

/// Policies are tried when an item has several references; otherwise they are all the same.
Result<std::vector<RougeVariant>> rouge_variants(std::span<const ScoreItem> items,
                                                 std::span<const SentenceSplit> splits,
                                                 unsigned threads);

}  // namespace qfs::metrics
