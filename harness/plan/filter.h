// Filter: "method=lead|bm25,local_context=256", the selection of cells behind --filter and --rerun.
//
// Conditions on different keys must all hold; of several values of one key one must; "null" is met
// by cells without the key. Keys are method, label, dataset, backbone, seed and the parameters of
// the methods in the sweep. A name or a value that no cell has, and a selection without a cell, are
// errors. Other programs' names and values mean the own ones where no cell has them itself. Plain
// data; the functions are thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "harness/core/foreign_names.h"

namespace qfs::plan {

struct Plan;

struct FilterCondition {
  std::string key;
  std::string value;

  friend bool operator==(const FilterCondition&, const FilterCondition&) = default;
};

struct Filter {
  std::vector<FilterCondition> conditions;  ///< empty: every cell
  ForeignNames foreign;

  bool empty() const { return conditions.empty(); }
};

/// Reads "key=value|value,key=value"; a value with a comma, a bar, a quotation mark or blanks at an
/// end stands in quotation marks, its own doubled. `invalid_argument` for a part without a key or a
/// value.
Result<Filter> parse_filter(std::string_view text, const ForeignNames& foreign = {});
/// A value as it is written in a filter.
std::string filter_value(const std::string& value);

/// What a filter sees of a cell: its values by key. A key may have several (a method's own name and
/// "external"; its row name).
using CellFacts = std::multimap<std::string, std::string, std::less<>>;

/// Indices of the cells that match, ascending; all of them for an empty filter. Numbers may be
/// written in any way ("1", "1.0"). `not_found` with the nearest name for a key or a value that no
/// cell has, and when no cell meets all conditions. With `absent`, which takes them, values that no
/// cell has are passed over where another of the same key has one.
Result<std::vector<size_t>> matching_cells(const Filter& asked, std::span<const CellFacts> cells,
                                           std::vector<FilterCondition>* absent = nullptr);

/// The same for the cells of a plan.
Result<std::vector<size_t>> select_cells(const Filter& filter, const Plan& plan);

}  // namespace qfs::plan
