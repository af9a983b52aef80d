#include "harness/plan/order.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "harness/plan/estimate.h"

namespace qfs::plan {

namespace {

int rank(HostKind kind) {
  switch (kind) {
    case HostKind::none:
    case HostKind::light:
      return 0;
    case HostKind::external:
      return 1;
    case HostKind::tensor:
      return 2;
  }
  return 2;
}

}  // namespace

void order_cells(std::vector<Cell>& cells) {
  const Estimator estimator;
  std::vector<double> seconds;
  std::map<std::string, double> totals;  // by weights_key
  for (const Cell& cell : cells) {
    seconds.push_back(estimator.seconds(cell));
    totals[cell.weights_key] += seconds.back();
  }
  std::vector<size_t> order(cells.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto key = [&](size_t i) {
    const Cell& cell = cells[i];
    return std::tuple(rank(cell.host), -totals[cell.weights_key], cell.weights_key, -seconds[i]);
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  std::vector<Cell> ordered;
  ordered.reserve(cells.size());
  for (size_t i : order) ordered.push_back(std::move(cells[i]));
  cells = std::move(ordered);
}

}  // namespace qfs::plan
