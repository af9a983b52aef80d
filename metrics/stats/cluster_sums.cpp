#include "metrics/stats/cluster_sums.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "harness/core/sha256.h"

namespace qfs::metrics {
namespace {

Status check(std::span<const Statistics> items, std::span<const std::string> clusters) {
  if (items.empty()) return invalid_argument("an interval or a test needs at least one item");
  if (items.size() != clusters.size()) {
    return invalid_argument("every item needs its cluster: " + std::to_string(items.size()) +
                            " items, " + std::to_string(clusters.size()) + " clusters");
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string row = "row " + std::to_string(i);
    if (items[i].size() != items[0].size()) {
      return invalid_argument(row + " has " + std::to_string(items[i].size()) +
                              " values, the first one has " + std::to_string(items[0].size()));
    }
    for (double value : items[i]) {
      if (!std::isfinite(value)) return invalid_argument(row + " holds a value that is not finite");
    }
  }
  return {};
}

/// The rows of each cluster, clusters in the order of their digests.
std::vector<std::vector<size_t>> rows_by_cluster(std::span<const std::string> clusters) {
  std::unordered_map<std::string_view, size_t> numbers;
  std::vector<std::pair<std::string, std::vector<size_t>>> found;
  for (size_t i = 0; i < clusters.size(); ++i) {
    const auto [place, fresh] = numbers.try_emplace(clusters[i], found.size());
    if (fresh) found.emplace_back(sha256_hex(clusters[i]), std::vector<size_t>());
    found[place->second].second.push_back(i);
  }
  std::ranges::sort(found, {}, &decltype(found)::value_type::first);
  std::vector<std::vector<size_t>> rows;
  rows.reserve(found.size());
  for (auto& [digest, of_cluster] : found) rows.push_back(std::move(of_cluster));
  return rows;
}

}  // namespace

double sum_of(std::vector<double> values) {
  std::ranges::sort(values);
  double sum = 0;
  for (double value : values) sum += value;
  return sum;
}

Result<ClusterSums> sum_by_cluster(std::span<const Statistics> items,
                                   std::span<const std::string> clusters) {
  if (Status status = check(items, clusters); !status.ok()) return status.error();
  ClusterSums result;
  result.columns = items[0].size();
  for (const std::vector<size_t>& rows : rows_by_cluster(clusters)) {
    result.sizes.push_back(static_cast<double>(rows.size()));
    for (size_t c = 0; c < result.columns; ++c) {
      std::vector<double> values;
      values.reserve(rows.size());
      for (size_t row : rows) values.push_back(items[row][c]);
      result.sums.push_back(sum_of(std::move(values)));
    }
  }
  return result;
}

}  // namespace qfs::metrics
