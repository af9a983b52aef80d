#include "reports/seeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace qfs::reports {
namespace {

bool is_ok(const SeedCell& seed) { return seed.cell.status == CellStatus::ok; }

TableCell trouble_of(std::span<const SeedCell> cells) {
  TableCell cell = std::ranges::find_if_not(cells, is_ok)->cell;
  cell.source = {};
  const bool same = std::ranges::all_of(cells, [&](const SeedCell& other) {
    return other.cell.status == cell.status && other.cell.detail == cell.detail;
  });
  if (!same) {
    const auto troubled =
        static_cast<ptrdiff_t>(cells.size()) - std::ranges::count_if(cells, is_ok);
    cell.detail = fmt::format("{} of {} seeds", troubled, cells.size());
  }
  return cell;
}

/// What all seeds agree on, else `other`.
template <class T>
T shared(std::span<const SeedCell> cells, T TableCell::*member, T other) {
  const T& first = cells.front().cell.*member;
  const bool same =
      std::ranges::all_of(cells, [&](const SeedCell& seed) { return seed.cell.*member == first; });
  return same ? first : other;
}

}  // namespace

TableCell over_seeds(std::span<const SeedCell> cells) {
  if (cells.size() == 1) return cells.front().cell;
  if (!std::ranges::all_of(cells, is_ok)) return trouble_of(cells);
  TableCell mean;
  mean.status = CellStatus::ok;
  mean.oracle = cells.front().cell.oracle;
  mean.n = shared(cells, &TableCell::n, int64_t{0});
  mean.detail = shared(cells, &TableCell::detail, std::string("mixed"));
  mean.comparable = shared(cells, &TableCell::comparable, std::string());
  const auto count = static_cast<double>(cells.size());
  for (const SeedCell& seed : cells) {
    mean.value += seed.cell.value / count;
    mean.conflicts += seed.cell.conflicts;
    mean.empty = std::max(mean.empty, seed.cell.empty);
    mean.seeds.push_back({seed.seed, seed.cell.value, seed.cell.source});
  }
  double squares = 0;
  for (const SeedCell& seed : cells) squares += std::pow(seed.cell.value - mean.value, 2);
  mean.deviation = std::sqrt(squares / (count - 1));
  return mean;
}

std::vector<std::string> deviation_notes(const Table& table) {
  std::set<size_t> counts;
  std::vector<std::string> seeds;
  for (const TableCell& cell : table.cells) {
    if (cell.seeds.empty()) continue;
    counts.insert(cell.seeds.size());
    for (const SeedValue& seed : cell.seeds) {
      if (std::ranges::find(seeds, seed.seed) == seeds.end()) seeds.push_back(seed.seed);
    }
  }
  if (counts.empty()) return {};
  const std::string of_seeds =
      fmt::format("of {} seeds ({})", fmt::join(counts, "/"), fmt::join(seeds, ", "));
  if (table.against && table.against->differences) {
    return {"where a method has several seeds, its mean " + of_seeds + " is compared"};
  }
  return {"mean ± standard deviation (n − 1) " + of_seeds + "; numbers without ± are of one"};
}

}  // namespace qfs::reports
