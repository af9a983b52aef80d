// Survey: before anything runs, where every cell of a plan stands in a store — its ids, its
// results, what is missing, what failed for good.
//
// Registers data sets, cells and the sweep in the store on the way. An error
// means that the sweep cannot start (store, a host that cannot be started).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "harness/plan/identity.h"
#include "harness/run/cell_run.h"
#include "harness/run/launcher.h"
#include "harness/run/memory_policy.h"

namespace qfs::run {

/// One kind of result of one cell.
struct ResultState {
  store::ResultId result;
  store::EnvironmentId environment;
  bool complete = false;
  std::optional<store::AttemptRow> remembered_failure;  ///< not retried by this run
};

/// The result row of one kind, made when there is none, with its remembered failure unless that is
/// to be retried.
Result<ResultState> result_state(const RunContext& context, const RunOptions& options,
                                 const plan::Cell& cell, store::ResultKind kind,
                                 const plan::NumericsIdentity& numerics,
                                 const store::Expected& expected);

struct CellState {
  ResultState predict;
  std::vector<size_t> missing_units;
  std::vector<int64_t> present;        ///< ordinals that need not run again, ascending
  std::optional<ResultState> measure;  ///< when the sweep measures
  std::vector<int64_t> missing_repetitions;
  std::optional<host::HostFailure> unreachable;  ///< the cell's program could not be asked
  bool rerun = false;                            ///< computed as if nothing of it were there
  bool waiting = false;  ///< for a training that is not done; nothing else is known then
};

/// How a cell is computed here, and how its timing is.
Result<plan::NumericsIdentity> predict_numerics(const plan::Cell& cell, HostLauncher& launcher);
Result<plan::NumericsIdentity> measure_numerics(const plan::Cell& cell, HostLauncher& launcher,
                                                const MeasureSettings& settings);

/// Puts data sets and cells into the store.
Status register_cells(const plan::Plan& plan, store::Store& store);
/// The same, and the sweep.
Result<store::SweepId> register_plan(const plan::Plan& plan, store::Store& store);

/// Says which results the sweep `whole` shows; `states`: of the cells of `plan`, all or some of it.
Status use_results(const plan::Plan& plan, const plan::Plan& whole, store::Store& store,
                   const store::SweepId& sweep, const std::vector<CellState>& states);

/// Of one cell, in the way it is computed; `rerun`: as if nothing of it were there.
Result<CellState> survey_cell(const RunContext& context, const RunOptions& options,
                              const plan::Cell& cell, bool rerun);

/// The predictions in the way that run_plan would take, with smaller batches where larger ones ran
/// out of memory and the sweep says so; `any_way`: others that are complete stand for those that
/// are not; none: nothing is there.
Result<std::optional<store::ResultRow>> stored_predictions(const plan::Plan& plan, plan::Cell cell,
                                                           const MemoryPolicy& memory,
                                                           store::Reader& reader,
                                                           HostLauncher& launcher, bool any_way);
/// Whether it is complete, or failed in a way that is not tried again.
bool nothing_left(const store::ResultRow& row, const RunOptions& options);

/// Whether nothing of a cell is left to do, its timing included where that is asked for; registers
/// nothing.
Result<bool> is_done(const RunContext& context, const RunOptions& options, const plan::Cell& cell);

/// By cell.
Result<std::vector<CellState>> survey(const RunContext& context, const RunOptions& options);

}  // namespace qfs::run
