#include "metrics/stats/bootstrap.h"

#include <algorithm>
#include <cmath>

#include "harness/api/corpus_metric.h"
#include "harness/core/json_dom.h"
#include "harness/core/rng.h"
#include "metrics/stats/cluster_sums.h"
#include "metrics/stats/row_sums.h"

namespace qfs::metrics {
namespace {

Status check(const BootstrapOptions& options) {
  if (options.resamples < 1) return invalid_argument("bootstrap resamples must be at least 1");
  if (!(options.level > 0 && options.level < 1)) {
    return invalid_argument("the level of an interval lies between 0 and 1");
  }
  return {};
}

/// Means of the resamples, column after column: element [c * resamples + r].
std::vector<double> resampled_means(const ClusterSums& data, const BootstrapOptions& options,
                                    const MeansTransform& transform) {
  const size_t columns = data.columns;
  const auto resamples = static_cast<size_t>(options.resamples);
  const RowSums rows(data);
  std::vector<double> means(columns * resamples);
  std::vector<uint32_t> drawn(data.clusters());
  std::vector<double> sums(rows.columns());
  Rng rng(options.seed);
  for (size_t r = 0; r < resamples; ++r) {
    for (uint32_t& cluster : drawn) cluster = static_cast<uint32_t>(rng.below(data.clusters()));
    rows.sum(drawn, sums);
    const std::span<double> values = std::span(sums).first(columns);
    const double size = sums[columns];
    for (double& value : values) value /= size;
    if (transform) transform(values, size);
    for (size_t c = 0; c < columns; ++c) means[c * resamples + r] = values[c];
  }
  return means;
}

}  // namespace

MeansTransform values_of(const Metric& metric) {
  const auto* const corpus = dynamic_cast<const CorpusMetric*>(&metric);
  if (corpus == nullptr) {
    return [&metric](std::span<double> means, double) { metric.values_from_means(means); };
  }
  return [corpus](std::span<double> means, double items) {
    // Statistics are counts; rounding undoes the rounding of their means.
    for (double& mean : means) mean = std::round(mean * items);
    corpus->values_from_sums(means, items);
  };
}

std::string bootstrap_signature(const BootstrapOptions& options) {
  return "bootstrap|method:percentile|unit:cluster|order:sha256|rng:xoshiro256ss|n:" +
         std::to_string(options.resamples) + "|seed:" + std::to_string(options.seed) +
         "|level:" + shortest_decimal(options.level) + "|v:2";
}

std::string unavailable_interval_text(int64_t clusters) {
  return "n/a (" + std::to_string(clusters) + " of " + std::to_string(kMinimumClusters) +
         " clusters)";
}

double linear_quantile(std::span<const double> sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double fraction = position - static_cast<double>(below);
  return sorted[below] + (sorted[above] - sorted[below]) * fraction;
}

Result<std::vector<Interval>> bootstrap_means(std::span<const Statistics> items,
                                              std::span<const std::string> clusters,
                                              const BootstrapOptions& options,
                                              const MeansTransform& transform) {
  if (Status status = check(options); !status.ok()) return status.error();
  const Result<ClusterSums> data = sum_by_cluster(items, clusters);
  if (!data.ok()) return data.error();
  const auto count = static_cast<int64_t>(data->clusters());
  std::vector<Interval> intervals(data->columns, Interval{0, 0, count});
  if (count < kMinimumClusters) return intervals;

  std::vector<double> means = resampled_means(*data, options, transform);
  const auto resamples = static_cast<size_t>(options.resamples);
  const double tail = (1 - options.level) / 2;
  for (size_t c = 0; c < data->columns; ++c) {
    const std::span<double> column = std::span(means).subspan(c * resamples, resamples);
    std::sort(column.begin(), column.end());
    intervals[c].low = linear_quantile(column, tail);
    intervals[c].high = linear_quantile(column, 1 - tail);
  }
  return intervals;
}

std::vector<double> bootstrap_medians(std::span<const Statistics> items,
                                      const BootstrapOptions& options,
                                      const MeansTransform& transform) {
  std::vector<double> medians;
  if (items.empty()) return medians;
  ClusterSums data;
  data.columns = items[0].size();
  data.sizes.assign(items.size(), 1);
  for (const Statistics& row : items) data.sums.insert(data.sums.end(), row.begin(), row.end());
  std::vector<double> means = resampled_means(data, options, transform);
  const auto resamples = static_cast<size_t>(options.resamples);
  for (size_t c = 0; c < data.columns; ++c) {
    const std::span<double> column = std::span(means).subspan(c * resamples, resamples);
    std::sort(column.begin(), column.end());
    medians.push_back(linear_quantile(column, 0.5));
  }
  return medians;
}

Result<std::vector<PairedDifference>> bootstrap_differences(std::span<const Statistics> a,
                                                            std::span<const Statistics> b,
                                                            std::span<const std::string> clusters,
                                                            const BootstrapOptions& options) {
  if (a.size() != b.size()) {
    return invalid_argument("a paired comparison needs the same items on both sides: " +
                            std::to_string(a.size()) + " and " + std::to_string(b.size()));
  }
  std::vector<Statistics> differences(a.begin(), a.end());
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].size() != b[i].size()) {
      return invalid_argument("row " + std::to_string(i) + " has " + std::to_string(a[i].size()) +
                              " and " + std::to_string(b[i].size()) +
                              " values; a paired comparison needs the same columns");
    }
    for (size_t c = 0; c < a[i].size(); ++c) differences[i][c] -= b[i][c];
  }
  Result<std::vector<Interval>> intervals = bootstrap_means(differences, clusters, options);
  if (!intervals.ok()) return intervals.error();

  std::vector<PairedDifference> result(intervals->size());
  for (size_t c = 0; c < result.size(); ++c) {
    std::vector<double> values;
    for (const Statistics& row : differences) values.push_back(row[c]);
    result[c].difference = sum_of(std::move(values)) / static_cast<double>(differences.size());
    result[c].interval = (*intervals)[c];
  }
  return result;
}

}  // namespace qfs::metrics
