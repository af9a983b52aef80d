#include "metrics/stats/corpus_differences.h"

#include <algorithm>
#include <cmath>

#include "harness/core/rng.h"
#include "metrics/stats/cluster_sums.h"

namespace qfs::metrics {
namespace {

/// Row i: the columns of a, then those of b.
Result<std::vector<Statistics>> joined_rows(std::span<const Statistics> a,
                                            std::span<const Statistics> b) {
  if (a.size() != b.size()) {
    return invalid_argument("a paired comparison needs the same items on both sides: " +
                            std::to_string(a.size()) + " and " + std::to_string(b.size()));
  }
  std::vector<Statistics> rows(a.begin(), a.end());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (a[i].size() != b[i].size()) {
      return invalid_argument("row " + std::to_string(i) + " has " + std::to_string(a[i].size()) +
                              " and " + std::to_string(b[i].size()) +
                              " values; a paired comparison needs the same columns");
    }
    rows[i].insert(rows[i].end(), b[i].begin(), b[i].end());
  }
  return rows;
}

/// Means of both halves become values; the first half then is the difference.
void subtract_values(std::span<double> means, double items, const MeansTransform& values) {
  const std::span<double> a = means.first(means.size() / 2);
  const std::span<double> b = means.subspan(means.size() / 2);
  values(a, items);
  values(b, items);
  for (size_t c = 0; c < a.size(); ++c) a[c] -= b[c];
}

/// Differences of the values when the clusters with a set bit are exchanged.
class Exchange {
 public:
  Exchange(const ClusterSums& data, const MeansTransform& values) : data_(data), values_(values) {
    for (double size : data.sizes) items_ += size;
  }

  template <class Swapped>
  std::vector<double> differences(Swapped&& swapped) const {
    const size_t half = data_.columns / 2;
    std::vector<double> sums(data_.columns, 0);
    for (size_t k = 0; k < data_.clusters(); ++k) {
      const double* row = data_.sums.data() + k * data_.columns;
      const size_t shift = swapped(k) ? half : 0;
      for (size_t c = 0; c < half; ++c) {
        sums[c] += row[c + shift];
        sums[c + half] += row[c + half - shift];
      }
    }
    for (double& sum : sums) sum /= items_;
    subtract_values(sums, items_, values_);
    sums.resize(half);
    return sums;
  }

 private:
  const ClusterSums& data_;
  const MeansTransform& values_;
  double items_ = 0;
};

/// Values of a minus those of b in each resample, ascending. The draws are those of an interval.
std::vector<double> resampled_differences(const ClusterSums& data, const MeansTransform& values,
                                          size_t column, const BootstrapOptions& options) {
  std::vector<double> differences;
  differences.reserve(static_cast<size_t>(options.resamples));
  std::vector<double> sums(data.columns);
  Rng rng(options.seed);
  for (int64_t r = 0; r < options.resamples; ++r) {
    std::ranges::fill(sums, 0.0);
    double items = 0;
    for (size_t draw = 0; draw < data.clusters(); ++draw) {
      const size_t cluster = rng.below(data.clusters());
      const double* row = data.sums.data() + cluster * data.columns;
      for (size_t c = 0; c < data.columns; ++c) sums[c] += row[c];
      items += data.sizes[cluster];
    }
    for (double& sum : sums) sum /= items;
    subtract_values(sums, items, values);
    differences.push_back(sums[column]);
  }
  std::ranges::sort(differences);
  return differences;
}

double deviation(std::span<const double> values) {
  double mean = 0;
  for (double value : values) mean += value / static_cast<double>(values.size());
  double squares = 0;
  for (double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

}  // namespace

Result<CorpusMargin> bootstrap_corpus_margin(std::span<const Statistics> a,
                                             std::span<const Statistics> b,
                                             std::span<const std::string> clusters,
                                             const MeansTransform& values, size_t column,
                                             double margin, const BootstrapOptions& options) {
  if (options.resamples < 1) return invalid_argument("bootstrap resamples must be at least 1");
  if (!(margin >= 0)) return invalid_argument("the margin of a drop is at least 0");
  const Result<std::vector<Statistics>> rows = joined_rows(a, b);
  if (!rows) return rows.error();
  const Result<ClusterSums> data = sum_by_cluster(*rows, clusters);
  if (!data) return data.error();
  if (column >= data->columns / 2) return invalid_argument("there is no such column to test");
  if (static_cast<int64_t>(data->clusters()) < kMinimumClusters) {
    return invalid_argument("a bootstrap test needs at least " + std::to_string(kMinimumClusters) +
                            " clusters, there are " + std::to_string(data->clusters()));
  }
  const std::vector<double> differences = resampled_differences(*data, values, column, options);
  // What only rounding keeps from the margin is neither below nor above it.
  const double slack = kTie * (1 + margin);
  const auto not_below = differences.end() - std::ranges::lower_bound(differences, -margin - slack);
  const auto not_above =
      std::ranges::upper_bound(differences, -margin + slack) - differences.begin();
  const auto share = [&](std::ptrdiff_t count) {
    return static_cast<double>(count + 1) / (static_cast<double>(options.resamples) + 1);
  };
  return CorpusMargin{share(not_below), share(not_above),
                      linear_quantile(differences, 1 - options.level),
                      linear_quantile(differences, options.level), deviation(differences)};
}

Result<std::vector<PairedDifference>> bootstrap_corpus_differences(
    std::span<const Statistics> a, std::span<const Statistics> b,
    std::span<const std::string> clusters, const MeansTransform& values,
    const BootstrapOptions& options) {
  const Result<std::vector<Statistics>> rows = joined_rows(a, b);
  if (!rows) return rows.error();
  const auto subtract = [&](std::span<double> means, double items) {
    subtract_values(means, items, values);
  };
  const Result<std::vector<Interval>> intervals =
      bootstrap_means(*rows, clusters, options, subtract);
  if (!intervals) return intervals.error();
  const Result<ClusterSums> data = sum_by_cluster(*rows, clusters);
  if (!data) return data.error();
  const std::vector<double> observed =
      Exchange(*data, values).differences([](size_t) { return false; });
  std::vector<PairedDifference> result;
  for (size_t c = 0; c < observed.size(); ++c) result.push_back({observed[c], (*intervals)[c]});
  return result;
}

Result<std::vector<double>> randomization_corpus_p(std::span<const Statistics> a,
                                                   std::span<const Statistics> b,
                                                   std::span<const std::string> clusters,
                                                   const MeansTransform& values,
                                                   const RandomizationOptions& options) {
  if (options.trials < 1) return invalid_argument("a randomisation test needs at least 1 trial");
  const Result<std::vector<Statistics>> rows = joined_rows(a, b);
  if (!rows) return rows.error();
  const Result<ClusterSums> data = sum_by_cluster(*rows, clusters);
  if (!data) return data.error();
  const Exchange exchange(*data, values);
  const std::vector<double> observed = exchange.differences([](size_t) { return false; });
  std::vector<double> extreme(observed.size(), 0);
  const auto count = [&](const std::vector<double>& differences) {
    for (size_t c = 0; c < observed.size(); ++c) {
      const double slack = kTie * (1 + std::abs(observed[c]));
      extreme[c] += std::abs(differences[c]) >= std::abs(observed[c]) - slack ? 1 : 0;
    }
  };
  const auto trials = static_cast<uint64_t>(options.trials);
  const size_t number = data->clusters();
  const bool exact = looks_at_all(static_cast<int64_t>(number), options);
  if (exact) {
    for (uint64_t bits = 0; bits < uint64_t{1} << number; ++bits) {
      count(exchange.differences([bits](size_t k) { return (bits >> k & 1) != 0; }));
    }
  } else {
    Rng rng(options.seed);
    std::vector<uint64_t> words((number + 63) / 64);
    for (uint64_t trial = 0; trial < trials; ++trial) {
      for (uint64_t& word : words) word = rng.next();
      count(exchange.differences(
          [&words](size_t k) { return (words[k / 64] >> (k % 64) & 1) != 0; }));
    }
  }
  for (double& value : extreme) {
    value = exact ? value / static_cast<double>(uint64_t{1} << number)
                  : (value + 1) / (static_cast<double>(trials) + 1);
  }
  return extreme;
}

}  // namespace qfs::metrics
