#include "metrics/stats/cluster_sums.h"

#include <cmath>
#include <map>
#include <string_view>

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

}  // namespace

Result<ClusterSums> sum_by_cluster(std::span<const Statistics> items,
                                   std::span<const std::string> clusters) {
  if (Status status = check(items, clusters); !status.ok()) return status.error();
  std::map<std::string_view, size_t> order;
  for (const std::string& cluster : clusters) order.emplace(cluster, 0);
  size_t next = 0;
  for (auto& [name, index] : order) index = next++;

  ClusterSums result;
  result.columns = items[0].size();
  result.sums.assign(order.size() * result.columns, 0);
  result.sizes.assign(order.size(), 0);
  for (size_t i = 0; i < items.size(); ++i) {
    const size_t cluster = order.find(clusters[i])->second;
    result.sizes[cluster] += 1;
    for (size_t c = 0; c < result.columns; ++c) {
      result.sums[cluster * result.columns + c] += items[i][c];
    }
  }
  return result;
}

}  // namespace qfs::metrics
