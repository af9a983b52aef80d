// TrainingPlanner: what cells that predict with trained files rest on — the training cells that
// make them, or the files that the sweep names.
//
// Used by make_plan. Not thread-safe. Errors point at the method's entry or at its data.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "harness/plan/expand.h"
#include "harness/plan/plan.h"

namespace qfs::plan {

/// A data set of the sweep with its selected examples, to score or to learn from.
Result<PlannedDataset> load_planned(const Experiment& experiment, const PlanContext& context,
                                    const DatasetEntry& entry, std::optional<uint64_t> draw = {});

/// By label, the round in which the cells of a row can be completed: 0, or one behind those of all
/// rows with cells (`labels`) that train for it. `invalid_argument` where rows train for one
/// another.
Result<std::map<std::string, size_t>> training_rounds(const Experiment& experiment,
                                                      std::span<const MethodRow> rows,
                                                      const std::set<std::string>& labels);

/// The cells of a grid before they are made; `facts`: what a filter sees of each.
struct Drafts {
  std::span<const Draft> all;
  std::span<const MethodRow> rows;
  std::span<const CellFacts> facts;
};

/// Indices of those that the filter keeps, and of what trains for them, and for that: of a row that
/// theirs name and that has none, the drafts on the same data set with the same seed that the
/// filter's other conditions hold for; where they hold for none, all.
Result<std::set<size_t>> with_trainers(const Drafts& drafts, std::span<const size_t> kept,
                                       const PlanContext& context);

/// Splits by which a training is chosen where its sweep names none; the first that there is.
inline constexpr std::string_view kDevelopmentSplits[] = {"validation", "dev", "val"};

class TrainingPlanner {
 public:
  /// All outlive the planner; training cells and their data are added to `plan`.
  TrainingPlanner(const Experiment& experiment, const PlanContext& context, Plan& plan)
      : experiment_(experiment), context_(context), plan_(plan) {}

  /// Sets the cell's `training`, `artifacts` and `origins`, and of named files the parameters that
  /// they were trained with. The cell's data set is loaded; cells of rows that it names are
  /// complete.
  Status rest(Cell& cell, const MethodRow& row, uint64_t seed);

 private:
  /// Roles that other methods train are named.
  Status check_made_by(const Cell& cell, const MethodRow& row) const;
  /// What one row says of another: what it trains for a role.
  struct TrainedRow {
    std::string role;
    std::string label;
    std::vector<std::string> methods;  ///< of one of these is the row
    uint64_t seed = 0;
    std::string where;
  };
  /// The cell of the row on the same data set.
  Result<const Cell*> find_row(const Cell& cell, const TrainedRow& row) const;
  /// What rows of the sweep train for it.
  Status use_rows(Cell& cell, const MethodRow& row, uint64_t seed);
  Status use_row(Cell& cell, const TrainedRow& row) const;
  /// What a row trains for `training`, that of the cell, to begin with; where that row names a
  /// file, it is put into `files`.
  Status begin_with_row(const Cell& cell, const TrainedRow& row, Training& training,
                        std::map<std::string, std::string>& files) const;
  /// The files that the sweep names, which are those of all roles but those that rows train.
  Status use_files(Cell& cell, const MethodRow& row);
  /// Those of other methods alone, for a training that reads with them.
  Status use_files_of_others(Cell& cell, const MethodRow& row);
  /// What a training, that of the cell, begins with.
  Status use_init(const Cell& cell, const MethodRow& row, Training& training);
  using NamedFiles = std::map<std::string, const ArtifactFacts*>;
  /// By the method's roles; some may have none.
  Result<NamedFiles> named_files(const Cell& cell, const MethodRow& row,
                                 const std::map<std::string, std::string>& paths,
                                 const std::string& where,
                                 std::span<const std::string> other_methods);
  /// The file is the method's, or one of these other methods'; of a role that another method
  /// trains, that method's.
  static Status check_origin(const Cell& cell, const std::string& role, const ArtifactFacts& facts,
                             const std::string& where, std::span<const std::string> other_methods);
  /// What one method trained for several roles rests on one another.
  static Status check_together(const NamedFiles& files, const std::string& where);
  Status use_recipe(Cell& cell, const MethodRow& row, const ArtifactFacts& facts,
                    const Params& written_recipe) const;
  void note_once(const std::string& words) const;
  Status use_training(Cell& cell, const MethodRow& row, uint64_t seed);
  Result<TrainingEntry> data_of(const Cell& cell, const MethodRow& row) const;
  Result<size_t> load(const DatasetEntry& entry, uint64_t seed);
  /// Examples that a cell is scored on are not learnt from.
  /// `data`: index into Plan::training_data.
  Status check_overlap(const Cell& cell, size_t data);

  std::string at(const std::string& pointer) const { return place(experiment_, pointer); }

  const Experiment& experiment_;
  const PlanContext& context_;
  Plan& plan_;
  std::map<std::string, Result<ArtifactFacts>> files_;  // by path
  std::map<std::string, size_t> trainings_;             // by id and numerics parameters
  std::set<std::pair<size_t, size_t>> compared_;        // what is scored with what is learnt from
};

}  // namespace qfs::plan
