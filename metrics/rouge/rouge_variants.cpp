#include "metrics/rouge/rouge_variants.h"

#include <algorithm>
#include <future>
#include <utility>

#include "metrics/text/scored_texts.h"

namespace qfs::metrics {
namespace {

using AllScores = std::vector<RougeScorer::Each>;

std::vector<MultiPolicy> policies(std::span<const ScoreItem> items) {
  const bool several =
      std::ranges::any_of(items, [](const ScoreItem& item) { return item.references.size() > 1; });
  if (!several) return {MultiPolicy{}};
  std::vector<MultiPolicy> list;
  for (MultiKind kind : {MultiKind::max, MultiKind::mean, MultiKind::first, MultiKind::best_recall,
                         MultiKind::pooled, MultiKind::jack_knife}) {
    list.push_back({kind});
  }
  // Anchored at the F of each variant: rouge1.f, rouge2.f, rougeL.f, rougeLsum.f.
  for (size_t variant = 0; variant < kRougeVariants; ++variant) {
    list.push_back({MultiKind::best_pair, 3 * variant + 2});
  }
  return list;
}

Result<AllScores> score_all(std::span<const ScoreItem> items, const RougeOptions& options) {
  RougeScorer scorer(options);
  AllScores all;
  all.reserve(items.size());
  for (const ScoreItem& item : items) {
    if (Status status = check_texts(item, "rouge"); !status.ok()) return status.error();
    Result<RougeScorer::Each> each = scorer.score_each(item.references, item.candidate);
    if (!each) {
      Error error = each.error();
      error.where = item_name(item);
      return error;
    }
    all.push_back(*std::move(each));
  }
  return all;
}

Result<std::vector<RougeVariant>> variants_of(std::span<const ScoreItem> items,
                                              const RougeOptions& scoring) {
  const Result<AllScores> all = score_all(items, scoring);
  if (!all) return all.error();
  std::vector<RougeVariant> variants;
  for (const MultiPolicy& policy : policies(items)) {
    std::vector<Statistics> rows;
    rows.reserve(all->size());
    for (const RougeScorer::Each& each : *all) {
      const RougeScores combined = combine_references(each.scores, each.lengths, policy);
      Statistics& row = rows.emplace_back();
      for (size_t c = 0; c < kRougeVariants * 3; ++c) row.push_back(column_value(combined, c));
    }
    for (RougeAggregate aggregate : {RougeAggregate::mean, RougeAggregate::bootstrap_median}) {
      const RougeMetric metric(
          RougeMetricOptions{.scorer = scoring, .multi = policy, .aggregate = aggregate});
      variants.push_back({std::string(metric.name()), metric.aggregate(rows)});
    }
  }
  return variants;
}

}  // namespace

Result<std::vector<RougeVariant>> rouge_variants(std::span<const ScoreItem> items,
                                                 std::span<const SentenceSplit> splits,
                                                 unsigned threads) {
  std::vector<RougeOptions> options;
  for (const SentenceSplit& split : splits) {
    for (bool stem : {true, false}) options.push_back({.stem = stem, .split = split});
  }
  std::vector<RougeVariant> variants;
  const size_t at_once = std::max(1U, threads);
  for (size_t begin = 0; begin < options.size(); begin += at_once) {
    std::vector<std::future<Result<std::vector<RougeVariant>>>> running;
    for (size_t i = begin; i < std::min(begin + at_once, options.size()); ++i) {
      running.push_back(
          std::async(std::launch::async, [&, i] { return variants_of(items, options[i]); }));
    }
    std::vector<Result<std::vector<RougeVariant>>> done;
    for (auto& future : running) done.push_back(future.get());
    for (Result<std::vector<RougeVariant>>& part : done) {
      if (!part) return part.error();
      std::ranges::move(*part, std::back_inserter(variants));
    }
  }
  return variants;
}

}  // namespace qfs::metrics
