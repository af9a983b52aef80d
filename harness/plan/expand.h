// Expansion: from the methods, axes and rules of a sweep to one draft for each cell, with its
// parameters resolved. Names and values are checked here; resources and data are not touched.
//
// Used by make_plan. Thread-safe. Errors are `invalid_argument` or `not_found` at the place in the
// sweep file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/api/experiment.h"
#include "harness/api/method.h"
#include "harness/api/result.h"
#include "harness/plan/filter.h"
#include "harness/plan/identity.h"

namespace qfs::plan {

/// The most cells a sweep may have; keeps a mistyped grid from filling the memory.
inline constexpr size_t kMostCells = 100'000;

/// A method entry whose method is known.
struct MethodRow {
  const MethodEntry* entry = nullptr;
  std::shared_ptr<const MethodSpec> spec;
  std::vector<ParamSpec> params;
  std::string label;
  std::vector<FingerprintFile> files;  ///< of an external method
};

/// A cell before its resources and data are looked up.
struct Draft {
  size_t method = 0;   ///< index into the rows
  size_t dataset = 0;  ///< index into Experiment::datasets
  uint64_t seed = 0;
  Params params;
};

/// "file#/json/pointer": the place of an error.
std::string place(const Experiment& experiment, const std::string& pointer);

Error too_many_cells(const Experiment& experiment, const std::string& pointer);

/// `error` with a place, unless it has one (a record of a data file knows better).
Error placed(Error error, const std::string& where);

/// Of a rule between parameters: `error` at the method, or where it names a line of a parameter's
/// text ("dictionary:3") at that line of the file that the text was read from, or at the parameter.
Error placed_in_text(Error error, const Experiment& experiment, const MethodRow& row);

/// How a data set is called in tables, filters and rules: its registered name or its file's name.
std::string dataset_name(const DatasetEntry& entry);

/// What filters see of a draft.
CellFacts draft_facts(std::span<const MethodRow> rows, std::span<const std::string> dataset_names,
                      const Draft& draft);

/// Drafts by method, data set, combination and seed, in the sweep's order; those of `include` last.
Result<std::vector<Draft>> expand(const Experiment& experiment, std::span<const MethodRow> rows);

}  // namespace qfs::plan
