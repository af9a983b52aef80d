#include "metrics/stats/randomization.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/core/rng.h"
#include "metrics/stats/cluster_sums.h"

namespace qfs::metrics {
namespace {

/// One assignment of signs to clusters, bit by bit: from a counter (all of them) or a generator.
class Signs {
 public:
  explicit Signs(size_t clusters) : words_((clusters + 63) / 64) {}

  void count(uint64_t number) { words_[0] = number; }
  void draw(Rng& rng) {
    for (uint64_t& word : words_) word = rng.next();
  }
  double of(size_t cluster) const {
    return (words_[cluster / 64] >> (cluster % 64) & 1) != 0 ? -1.0 : 1.0;
  }

 private:
  std::vector<uint64_t> words_;
};

/// How many of the assignments seen so far are as extreme as what was observed, by column.
class ExtremeCounter {
 public:
  ExtremeCounter(const ClusterSums& data, Alternative alternative)
      : data_(data), alternative_(alternative), counts_(data.columns, 0), slack_(data.columns, 0) {
    observed_ = sums(nullptr);
    for (size_t k = 0; k < data.sums.size(); ++k) {
      slack_[k % data.columns] += kTie * std::abs(data.sums[k]);
    }
  }

  void look_at(const Signs& signs) {
    const std::vector<double> sum = sums(&signs);
    for (size_t c = 0; c < counts_.size(); ++c) counts_[c] += extreme(sum[c], c) ? 1 : 0;
  }
  const std::vector<double>& counts() const { return counts_; }

 private:
  std::vector<double> sums(const Signs* signs) const {
    std::vector<double> sum(data_.columns, 0);
    for (size_t k = 0; k < data_.clusters(); ++k) {
      const double sign = signs == nullptr ? 1.0 : signs->of(k);
      for (size_t c = 0; c < data_.columns; ++c) sum[c] += sign * data_.sums[k * data_.columns + c];
    }
    return sum;
  }

  bool extreme(double sum, size_t column) const {
    if (alternative_ == Alternative::less) return sum <= observed_[column] + slack_[column];
    return std::abs(sum) >= std::abs(observed_[column]) - slack_[column];
  }

  const ClusterSums& data_;
  Alternative alternative_;
  std::vector<double> observed_;
  std::vector<double> counts_;
  std::vector<double> slack_;  ///< what sums that are equal may differ by after rounding
};

}  // namespace

std::string randomization_signature(const RandomizationOptions& options) {
  return "randomisation|unit:cluster|order:sha256|rng:xoshiro256ss|n:" +
         std::to_string(options.trials) + "|seed:" + std::to_string(options.seed) + "|v:2";
}

bool looks_at_all(int64_t clusters, const RandomizationOptions& options) {
  return clusters < 63 && int64_t{1} << clusters <= options.trials;
}

double least_p(int64_t clusters, Alternative alternative, const RandomizationOptions& options) {
  const auto trials = static_cast<double>(options.trials);
  if (!looks_at_all(clusters, options)) return 1 / (trials + 1);
  const double as_observed = alternative == Alternative::different ? 2 : 1;
  return std::min(1.0, std::ldexp(as_observed, -static_cast<int>(clusters)));
}

int64_t clusters_for_p(double level, Alternative alternative, const RandomizationOptions& options) {
  int64_t clusters = 1;
  while (looks_at_all(clusters, options) && least_p(clusters, alternative, options) >= level) {
    ++clusters;
  }
  return least_p(clusters, alternative, options) < level ? clusters : 0;
}

Result<std::vector<double>> randomization_p(std::span<const Statistics> differences,
                                            std::span<const std::string> clusters,
                                            Alternative alternative,
                                            const RandomizationOptions& options) {
  if (options.trials < 1) return invalid_argument("a randomisation test needs at least 1 trial");
  const Result<ClusterSums> data = sum_by_cluster(differences, clusters);
  if (!data.ok()) return data.error();

  const auto count = static_cast<int64_t>(data->clusters());
  ExtremeCounter counter(*data, alternative);
  Signs signs(data->clusters());
  const auto trials = static_cast<uint64_t>(options.trials);
  const bool exact = looks_at_all(count, options);
  if (exact) {
    const uint64_t assignments = uint64_t{1} << count;
    for (uint64_t number = 0; number < assignments; ++number) {
      signs.count(number);
      counter.look_at(signs);
    }
  } else {
    Rng rng(options.seed);
    for (uint64_t trial = 0; trial < trials; ++trial) {
      signs.draw(rng);
      counter.look_at(signs);
    }
  }
  std::vector<double> p;
  for (double extreme : counter.counts()) {
    p.push_back(exact ? extreme / static_cast<double>(uint64_t{1} << count)
                      : (extreme + 1) / (static_cast<double>(trials) + 1));
  }
  return p;
}

std::vector<double> holm_adjusted(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const auto left = static_cast<double>(order.size() - rank);
    largest = std::max(largest, std::min(1.0, left * p[order[rank]]));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

}  // namespace qfs::metrics
