// StoredCell: one cell of a stored sweep with what it can be chosen and paired by; which cells a
// command line means, and which of two sides belong together.
//
// Called by comparisons and by the subcommands that look at cells. Pure; thread-safe. Errors name
// the key, or list the cells.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/api/result.h"
#include "harness/core/foreign_names.h"
#include "harness/plan/filter.h"
#include "harness/store/rows.h"

namespace qfs::compare {

/// "method" (the row's label), "dataset", "seed", "cell" and every parameter, as text.
using Dimensions = std::map<std::string, std::string, std::less<>>;

struct StoredCell {
  store::CellRow cell;
  Dimensions dimensions;
  std::string dataset;  ///< its own name, whatever else tells it from others
  /// Shown for this seed, too, which does not matter to it: the same result stands at another
  /// place.
  bool another_seed = false;
  std::optional<store::ResultRow> predict;
  std::optional<store::ResultRow> measure;
  int64_t measured_examples = 0;           ///< of a repetition of `measure`
  std::vector<store::ScoreJobRow> scores;  ///< of `predict`
};

using Cells = std::vector<const StoredCell*>;

/// Indices of the cells that meet `filter` (plan::Filter's text, may be empty; `foreign`: other
/// names of parameters), ascending. `absent` and errors: as of plan::matching_cells, and those of
/// plan::parse_filter.
Result<std::vector<size_t>> matching_cells(std::span<const StoredCell* const> cells,
                                           std::string_view filter,
                                           const ForeignNames& foreign = {},
                                           std::vector<plan::FilterCondition>* absent = nullptr);

/// Those whose id begins with `id_prefix`, which may be none; one that is shown for several seeds
/// once.
Result<std::vector<size_t>> select_cells(std::span<const StoredCell* const> cells,
                                         std::string_view id_prefix, std::string_view filter,
                                         const ForeignNames& foreign = {});

/// Without the further places of a result that is shown for several seeds. `Cell` is a StoredCell.
template <class Cell>
std::vector<const Cell*> shown_once(const std::vector<const Cell*>& cells) {
  std::vector<const Cell*> once;
  for (const Cell* cell : cells) {
    const auto is_of_it = [&](const Cell* other) { return other->cell.id == cell->cell.id; };
    if (!cell->another_seed || std::ranges::none_of(once, is_of_it)) once.push_back(cell);
  }
  return once;
}

/// "lead local_context=256": the label and those dimensions that are in `shown`, of long values the
/// beginning.
std::string cell_name(const StoredCell& cell, const std::set<std::string>& shown);

/// The dimensions that tell these cells apart beside their labels: of which two cells with one
/// label have different values.
std::set<std::string> telling_dimensions(std::span<const StoredCell* const> cells);

/// "N cells match": the error of a command that needs one, with the first of them.
Error several_cells(std::span<const StoredCell* const> cells);

struct Pairing {
  std::vector<std::pair<const StoredCell*, const StoredCell*>> pairs;  ///< in A's order
  Cells only_a;
  Cells only_b;
};

/// Cells with the same id; with `by`, with the same values of these dimensions (a cell without one
/// has an empty value), whatever else differs. By "seed", a cell that is shown for several seeds
/// has a partner at each of them; else it stands for one. `not_found` for a dimension that no cell
/// has; `invalid_argument` names the cells of a side that these dimensions do not tell apart.
Result<Pairing> pair_cells(const Cells& places_a, const Cells& places_b,
                           const std::vector<std::string>& by);

/// What could be done about cells without a partner: in what they differ, and the dimensions that
/// would pair them. Empty when one side has all its partners.
std::vector<std::string> pairing_advice(const Pairing& pairing);

}  // namespace qfs::compare
