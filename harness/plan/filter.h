// Filter: "method=lead,local_context=256", the selection of cells behind --filter and --rerun.
//
// Conditions on different keys must all hold; of several values for one key one must. Keys are
// method, label, dataset, backbone, seed and the parameters of the methods in the sweep. Plain
// data; the functions are thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/params.h"
#include "harness/api/result.h"

namespace qfs::plan {

struct Plan;

struct FilterCondition {
  std::string key;
  std::string value;

  friend bool operator==(const FilterCondition&, const FilterCondition&) = default;
};

struct Filter {
  std::vector<FilterCondition> conditions;  ///< empty: every cell

  bool empty() const { return conditions.empty(); }
};

/// Reads "key=value,key=value"; `invalid_argument` for a part without a key or a value.
Result<Filter> parse_filter(std::string_view text);

/// What a filter, an `include` or an `exclude` can see of a cell.
struct CellFacts {
  std::string_view method;        ///< name of its spec
  std::string_view entry_method;  ///< as written in the sweep: "external" for a user's program
  std::string_view label;
  std::string_view dataset;
  std::string_view backbone;  ///< empty: none
  uint64_t seed = 0;
  const Params* params = nullptr;
};

bool matches(const Filter& filter, const CellFacts& cell);

/// `not_found` with the nearest name for a key that no cell has.
Status check_filter_keys(const Filter& filter, std::span<const CellFacts> cells);

/// Indices into plan.cells of the cells that match, ascending. Errors: a key that no cell has, or
/// no cell that matches.
Result<std::vector<size_t>> select_cells(const Filter& filter, const Plan& plan);

}  // namespace qfs::plan
