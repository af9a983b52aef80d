// One side of a comparison as a command line names it: "STORE", "STORE#CONDITIONS" or "CONDITIONS"
// on --store, open, with its sweep and the cells that are meant.
//
// Used by `compare` and `gate`. Not thread-safe. Errors name the argument.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/api/metric.h"
#include "harness/cli/commands.h"
#include "harness/compare/compare_stores.h"
#include "reports/sweep_facts.h"

namespace qfs::cli {

struct ComparedSide {
  std::string name;  ///< the store, and its run where one was asked for
  std::unique_ptr<store::Reader> reader;
  std::unique_ptr<compare::StoreCells> source;  ///< on `reader`
  reports::SweepFacts facts;
  std::string filter;
};

/// An argument taken apart: the longest beginning that names a file is the store.
struct SideName {
  std::string path;    ///< empty: the conditions are on --store
  std::string filter;  ///< behind '#'
  bool exists = false;
};

SideName side_name(const std::string& text);

/// `run` is one of the store.
Result<ComparedSide> open_side(const std::string& text, const std::string& run,
                               const GlobalOptions& global);

/// The cells of a side that its conditions mean; it outlives them.
Result<compare::StoredSide> cells_of(ComparedSide& side);

/// The names that scores by the sweep's metrics have.
std::vector<std::string> declared_metrics(const ComparedSide& side, const MetricCatalog& catalog);

}  // namespace qfs::cli
