#include "harness/compare/compare_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "harness/score/score.h"

namespace qfs::compare {
namespace {

constexpr size_t kNamed = 3;  ///< ids that a message names

std::string some_of(const std::vector<std::string>& ids) {
  const size_t named = std::min(ids.size(), kNamed);
  return fmt::format("{} ({}{})", ids.size(), fmt::join(ids.begin(), ids.begin() + named, ", "),
                     named < ids.size() ? ", …" : "");
}

/// Items of A and of B with the same id.
struct Pairs {
  std::vector<std::pair<size_t, size_t>> items;  ///< by id, whatever the order of the rows
  std::vector<size_t> only_a;
  std::vector<size_t> only_b;
};

Pairs pairs_by_id(const MeasuredItems& a, const MeasuredItems& b) {
  std::unordered_map<std::string_view, size_t> places;
  for (size_t i = 0; i < b.ids.size(); ++i) places.emplace(b.ids[i], i);
  Pairs pairs;
  std::vector<bool> used(b.ids.size(), false);
  for (size_t i = 0; i < a.ids.size(); ++i) {
    const auto found = places.find(a.ids[i]);
    if (found == places.end()) {
      pairs.only_a.push_back(i);
    } else {
      pairs.items.emplace_back(i, found->second);
      used[found->second] = true;
    }
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) pairs.only_b.push_back(i);
  }
  std::ranges::sort(pairs.items, {}, [&](const auto& pair) { return a.ids[pair.first]; });
  return pairs;
}

std::vector<std::string> named(const std::vector<size_t>& items,
                               const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (size_t i : items) found.push_back(names[i]);
  return found;
}

/// Two files can be compared when they are about the same items under the same references.
Status check_pairs(const Pairs& pairs, const MeasuredItems& a, const MeasuredItems& b,
                   bool skip_missing) {
  if (pairs.items.empty()) {
    return data_error(fmt::format("A and B have no id in common: A has {}, B has {}",
                                  some_of(a.ids), some_of(b.ids)));
  }
  if (!skip_missing && !(pairs.only_a.empty() && pairs.only_b.empty())) {
    std::string only;
    if (!pairs.only_a.empty()) only = " only in A " + some_of(named(pairs.only_a, a.ids)) + ";";
    if (!pairs.only_b.empty()) only += " only in B " + some_of(named(pairs.only_b, b.ids)) + ";";
    return data_error(
        "A and B are not about the same items:" + only +
        " --missing skip compares the others; with --refs or --refs-dataset, --missing zero scores "
        "what a file lacks as an empty text");
  }
  for (const auto& [i, j] : pairs.items) {
    if (a.reference_hashes[i] != b.reference_hashes[j]) {
      return data_error("item '" + a.ids[i] +
                        "' has other references in A than in B, so its scores cannot be compared; "
                        "--refs gives both the same");
    }
    if (a.unit != b.unit || (a.unit != "item" && a.clusters[i] != b.clusters[j])) {
      return data_error(
          fmt::format("item '{}' is of {} '{}' in A and of {} '{}' in B; tests exchange whole ones",
                      a.ids[i], a.unit, a.clusters[i], b.unit, b.clusters[j]));
    }
  }
  return {};
}

/// Whether the corpus value of each column is the mean of its items.
std::vector<bool> means_of(const score::TextScore& score) {
  constexpr double kTolerance = 1e-9;
  std::vector<bool> is_mean(score.columns.size());
  for (size_t c = 0; c < is_mean.size(); ++c) {
    double sum = 0;
    for (const Statistics& row : score.statistics) sum += row[c];
    const double mean = sum / static_cast<double>(score.statistics.size());
    is_mean[c] = std::abs(score.values[c].value - mean) <= kTolerance;
  }
  return is_mean;
}

PairedStatistics paired_of(const Pairs& pairs, const MeasuredItems& a, const MeasuredItems& b,
                           size_t metric) {
  const score::TextScore& of_a = a.scores[metric];
  const score::TextScore& of_b = b.scores[metric];
  PairedStatistics paired;
  paired.columns = of_a.columns;
  paired.is_mean = means_of(of_a);
  const std::vector<bool> means_of_b = means_of(of_b);
  for (size_t c = 0; c < paired.columns.size(); ++c) {
    paired.is_mean[c] = paired.is_mean[c] && means_of_b[c];
    paired.better.push_back(of_a.metric->better(paired.columns[c]));
  }
  for (const auto& [i, j] : pairs.items) {
    paired.ordinals.push_back(static_cast<int64_t>(i));
    paired.ids.push_back(a.ids[i]);
    paired.clusters.push_back(a.clusters[i]);
    paired.first.push_back(of_a.statistics[i]);
    paired.second.push_back(of_b.statistics[j]);
    paired.empty_first += a.empty[i] ? 1 : 0;
    paired.empty_second += b.empty[j] ? 1 : 0;
  }
  paired.only_first = named(pairs.only_a, a.ids);
  paired.only_second = named(pairs.only_b, b.ids);
  paired.only_first_clusters = named(pairs.only_a, a.clusters);
  paired.only_second_clusters = named(pairs.only_b, b.clusters);
  return paired;
}

}  // namespace

Result<Outcome> compare_items(const MeasuredItems& a, const MeasuredItems& b,
                              const Request& request) {
  const Pairs pairs = pairs_by_id(a, b);
  if (Status status = check_pairs(pairs, a, b, request.skip_missing); !status) {
    return status.error();
  }
  std::vector<std::string> columns;
  for (const score::TextScore& score : a.scores) {
    columns.insert(columns.end(), score.columns.begin(), score.columns.end());
  }
  if (Status known = check_columns(columns, request); !known) return known.error();

  Outcome outcome;
  outcome.skip_missing = request.skip_missing;
  for (size_t m = 0; m < a.scores.size(); ++m) {
    const Metric* const metric = a.scores[m].metric.get();
    Result<Comparison> comparison = compare_metric(paired_of(pairs, a, b, m), request, metric);
    if (!comparison) return comparison.error();
    if (comparison->columns.empty() && comparison->left_out.empty()) continue;
    comparison->a = a.name;
    comparison->b = b.name;
    comparison->metric = a.metrics[m];
    comparison->signature = score::scored_signature(*metric, a.postprocess);
    comparison->unit = a.unit;
    outcome.comparisons.push_back(*std::move(comparison));
  }
  conclude(outcome);
  return outcome;
}

}  // namespace qfs::compare
