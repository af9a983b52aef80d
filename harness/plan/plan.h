// Plan: every cell of a sweep, resolved, validated, identified and in execution order, before the
// first one runs. Made once per command by `make_plan`; read by run, reports and the subcommands.
//
// Plain data. Making a plan reads the data sets and, for external methods, fingerprint files; it
// starts no host except through ExternalDescriber. Errors point into the sweep file
// ("file#/methods/1/max_new_tokens"). A plan is a pure function of the sweep, the data and the
// catalogues: the order of keys and the paths of files do not matter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/dataset.h"
#include "harness/api/experiment.h"
#include "harness/api/ids.h"
#include "harness/api/json.h"
#include "harness/api/method.h"
#include "harness/api/metric.h"
#include "harness/plan/external.h"
#include "harness/plan/filter.h"
#include "harness/plan/imported.h"

namespace qfs::plan {

/// A data set of the sweep with the examples that its cells run on.
struct PlannedDataset {
  DatasetEntry entry;
  std::string name;  ///< as shown and filtered: the registered name, or the file's name
  std::shared_ptr<const Dataset> data;
  std::vector<int64_t> ordinals;          ///< selected examples, ascending
  std::vector<int64_t> measure_ordinals;  ///< a fixed part of them; empty without `measure`
  DatasetStats stats;                     ///< of the selected examples
  std::optional<uint64_t> draw = {};      ///< of the sample, where each seed has one
  Json selection;  ///< {"draw":…,"limit":…,"sample":…}, without what leaves nothing out

  /// The examples with these ordinals.
  std::vector<NumberedExample> numbered(const std::vector<int64_t>& of) const;
};

/// The program that hosts a cell.
enum class HostKind {
  light,     ///< `qfs-bench host`
  tensor,    ///< `qfs-host`
  external,  ///< the user's own program
  none,      ///< outputs are in a file already
};

constexpr std::string_view to_string(HostKind kind) {
  switch (kind) {
    case HostKind::light:
      return "light";
    case HostKind::tensor:
      return "tensor";
    case HostKind::external:
      return "external";
    case HostKind::none:
      return "none";
  }
  return "light";
}

struct Cell {
  CellId id;      ///< two cells may share it when they differ in numerics parameters only
  Json identity;  ///< what `id` hashes
  std::shared_ptr<const MethodSpec> spec;
  std::string label;                  ///< row name in tables
  Params params;                      ///< given, grid and default values
  uint64_t seed = 0;                  ///< 0 where the seed does not matter
  std::vector<uint64_t> shown_seeds;  ///< of the sweep, for which tables show it; one or more
  size_t dataset = 0;                 ///< index into Plan::datasets
  std::optional<Resource> backbone;
  BackboneFacts facts;                        ///< of the backbone
  std::map<std::string, Resource> backbones;  ///< further models, by role
  std::optional<Resource> tokenizer;
  std::optional<ExternalCommand> external;
  std::vector<Unit> units;
  bool reversed = false;  ///< units were cut from the last example to the first: numerics
  Cost cost;
  HostKind host = HostKind::light;
  std::string weights_key;  ///< cells with equal keys are neighbours and may share a host
  Needs needs;
  std::string sweep;    ///< the only one that may use the outputs; empty: every sweep
  std::string pointer;  ///< of the method's entry in the sweep file
  std::shared_ptr<const ImportedOutputs> imported;  ///< of HostKind::none
  Documents documents = Documents::own;
  std::map<int64_t, int64_t> others;  ///< whose, by ordinal, unless all is its own
  std::optional<size_t> training;     ///< index into Plan::trainings: what is done before it runs
  /// The trained files that it predicts with, or begins its training with, by role: those that the
  /// sweep names. What a training of the plan makes is known when that is done.
  std::map<std::string, Resource> artifacts;
  /// The training cells that made them, by role, in hex; none for a file that does not name its.
  std::map<std::string, std::string> origins;
  /// Whether a training of the plan makes a file that it predicts with, and none is there yet.
  bool waits() const {
    return training && std::ranges::any_of(needs.artifacts, [&](const std::string& role) {
             return !artifacts.contains(role);
           });
  }
  size_t position = 0;  ///< in the sweep's own order (data sets, methods, grid), as tables show it

  /// Whether a measure pass would say anything: a server's times are in its outputs.
  bool timed() const { return !needs.network && !needs.imported; }
};

/// A cell that trains. It has no units, and its data set is one of Plan::training_data.
struct Training {
  Cell cell;
  std::optional<size_t> development;  ///< index into Plan::training_data
};

struct Plan {
  Experiment experiment;
  std::vector<PlannedDataset> datasets;       ///< those that some cell uses, in the sweep's order
  std::vector<Cell> cells;                    ///< in execution order
  std::vector<Training> trainings;            ///< before them, each behind the one it begins with
  std::vector<PlannedDataset> training_data;  ///< their training and development splits
  std::vector<std::shared_ptr<const Metric>> metrics;  ///< in the sweep's order
  std::vector<std::string> notes;  ///< what a person should know, e.g. merged duplicates
  std::vector<Error> undescribed;  ///< external methods that did not say what they are: no cells
};

/// Indices of the trainings that a cell rests on: its own, the one that this begins with, and so
/// on.
std::vector<size_t> trainings_behind(const Plan& plan, const Cell& cell);

/// These cells (indices, each once) in this order, with the trainings that they rest on and all
/// data sets; cells keep their `position`.
Plan plan_of_cells(const Plan& plan, std::span<const size_t> cells);

/// What a plan is made with. The method catalogue outlives the plan, whose cells refer to its
/// specs.
struct PlanContext {
  const MethodCatalog& methods;
  const DatasetCatalog& datasets;
  const MetricCatalog& metrics;
  ExternalDescriber* external = nullptr;  ///< needed for external methods
  Filter filter = {};                     ///< cells to keep; others are neither resolved nor loaded
  std::optional<int64_t> limit = {};      ///< the first N selected examples of each data set
  bool allow_external = false;  ///< the user agreed to programs and servers that the sweep names
  ImportedReader* imported = nullptr;  ///< needed for the method `imported`
  std::string init = {};  ///< a trained file that trainings begin with, whatever the sweep names
};

Result<Plan> make_plan(const Experiment& experiment, const PlanContext& context);

}  // namespace qfs::plan
