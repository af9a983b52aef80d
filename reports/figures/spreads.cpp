#include "reports/figures/spreads.h"

namespace qfs::reports {
namespace {

/// The seeds of a difference are not a spread of it.
bool of_seeds(const TableCell& cell) { return !cell.seeds.empty() && !cell.difference; }

}  // namespace

std::optional<Spread> drawn_spread(const TableValue& value, const TableCell& cell) {
  if (of_seeds(cell)) {
    return Spread{(cell.value - cell.deviation) * value.scale,
                  (cell.value + cell.deviation) * value.scale, SpreadKind::interval};
  }
  if (!cell.spread) return std::nullopt;
  return Spread{cell.spread->low * value.scale, cell.spread->high * value.scale, cell.spread->kind};
}

std::string spread_words(const std::vector<const TableCell*>& cells) {
  bool intervals = false;
  bool seeds = false;
  bool repetitions = false;
  for (const TableCell* cell : cells) {
    if (of_seeds(*cell)) {
      seeds = true;
    } else if (cell->spread) {
      (cell->spread->kind == SpreadKind::interval ? intervals : repetitions) = true;
    }
  }
  std::string words;
  const auto add = [&](bool there, const char* meaning) {
    if (there) words += (words.empty() ? "" : "; ") + std::string(meaning);
  };
  add(intervals, "95 % intervals");
  add(seeds, "mean ± standard deviation of the seeds");
  add(repetitions, "smallest to largest of the repetitions");
  return words;
}

}  // namespace qfs::reports
