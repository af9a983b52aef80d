#include "metrics/rouge/rouge_metric.h"

#include <cmath>
#include <utility>

#include "metrics/stats/bootstrap.h"
#include "metrics/text/scored_texts.h"

namespace qfs::metrics {
namespace {

constexpr size_t kRougeColumns = kRougeVariants * 3;
/// rouge1.f, rouge2.f, rougeL.f.
constexpr size_t kGeometricColumns[] = {2, 5, 8};
/// As rouge_score's aggregator: 1000 resamples of items.
constexpr BootstrapOptions kMedianResamples = {.resamples = 1000, .seed = 12345};

double geometric_mean(std::span<const double> row) {
  double product = 1;
  for (size_t column : kGeometricColumns) product *= row[column];
  return std::cbrt(product);
}

/// "rouge" with the options that are not the default, in the order of the declaration.
std::string name_of(const RougeMetricOptions& options) {
  std::string text;
  const auto add = [&](const std::string& option) { text += (text.empty() ? ":" : ",") + option; };
  if (!options.scorer.stem) add("stem=off");
  if (options.multi != MultiPolicy{}) add("multi=" + to_string(options.multi));
  if (options.aggregate == RougeAggregate::bootstrap_median) add("agg=boot-median");
  if (options.geometric_mean) add("geometric_mean=on");
  const std::string split = options.scorer.split.options(kDefaultSplit, kDefaultNltk);
  if (!split.empty()) add(split);
  return "rouge" + text;
}

}  // namespace

RougeMetric::RougeMetric(const RougeMetricOptions& options)
    : options_(options), name_(name_of(options)) {}

std::string RougeMetric::signature() const {
  std::string text = rouge_signature(options_.scorer);
  const auto replace = [&](std::string_view from, const std::string& to) {
    const size_t at = text.find(from);
    text.replace(at, from.size(), to);
  };
  if (options_.multi != MultiPolicy{}) {
    replace("multi:max-f-per-metric", "multi:" + multi_signature(options_.multi));
  }
  if (options_.aggregate == RougeAggregate::bootstrap_median) {
    replace("agg:mean", "agg:boot-median(n:" + std::to_string(kMedianResamples.resamples) +
                            ",unit:item,seed:" + std::to_string(kMedianResamples.seed) +
                            ",rng:xoshiro256ss)");
  }
  if (options_.geometric_mean) replace("|v:1", "|gmean:r1,r2,rL-of-means|v:1");
  return text;
}

std::string_view RougeMetric::doc() const {
  return "ROUGE-1, -2, -L and summary-level -L, equal to rouge_score 0.1.2 digit for digit";
}

std::vector<std::string> RougeMetric::columns() const {
  std::vector<std::string> columns;
  for (size_t i = 0; i < kRougeColumns; ++i) columns.push_back(rouge_column(i));
  if (options_.geometric_mean) columns.emplace_back("geometric_mean.f");
  return columns;
}

Result<std::vector<Statistics>> RougeMetric::measure(std::span<const ScoreItem> items) const {
  RougeScorer scorer(options_.scorer);
  std::vector<Statistics> rows;
  rows.reserve(items.size());
  for (const ScoreItem& item : items) {
    if (Status status = check_texts(item, "rouge"); !status.ok()) return status.error();
    const Result<RougeScorer::Each> each = scorer.score_each(item.references, item.candidate);
    if (!each.ok()) {
      Error error = each.error();
      error.where = item_name(item);
      return error;
    }
    const RougeScores combined = combine_references(each->scores, each->lengths, options_.multi);
    Statistics& row = rows.emplace_back();
    row.reserve(kRougeColumns + 1);
    for (size_t i = 0; i < kRougeColumns; ++i) row.push_back(column_value(combined, i));
    if (options_.geometric_mean) row.push_back(geometric_mean(row));
  }
  return rows;
}

void RougeMetric::values_from_means(std::span<double> means) const {
  if (options_.geometric_mean) means[kRougeColumns] = geometric_mean(means);
}

std::vector<Score> RougeMetric::aggregate(std::span<const Statistics> items) const {
  if (options_.aggregate == RougeAggregate::mean || items.empty()) return Metric::aggregate(items);
  const std::vector<double> medians = bootstrap_medians(items, kMedianResamples, values_of(*this));
  const std::vector<std::string> names = columns();
  std::vector<Score> scores;
  for (size_t i = 0; i < names.size(); ++i) scores.push_back({names[i], medians[i]});
  return scores;
}

}  // namespace qfs::metrics
