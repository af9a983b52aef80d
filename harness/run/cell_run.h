// Running one cell: its missing units (predict) or its timed repetitions (measure), from opening
// the session to the end of the attempt.
//
// A failing cell is a CellOutcome; an Error means that the store cannot go
// on.
#pragma once

#include <vector>

#include "harness/api/result.h"
#include "harness/plan/plan.h"
#include "harness/run/document_cutter.h"
#include "harness/run/host_pool.h"
#include "harness/run/progress.h"
#include "harness/run/signals.h"
#include "harness/store/reader.h"
#include "harness/store/store.h"

namespace qfs::run {

/// What all cells of a run share.
struct RunContext {
  const plan::Plan& plan;
  store::Store& store;
  store::Reader& reader;
  HostLauncher& launcher;
  const SignalWatch& signals;
  Progress& progress;
  DocumentCutter& cutter;
};

/// One cell's place in the store.
struct CellTarget {
  const plan::Cell* cell = nullptr;
  store::ResultId result;
  store::EnvironmentId environment;
  std::vector<size_t> units;          ///< predict: indices into cell->units that have rows missing
  std::vector<int64_t> present = {};  ///< predict: ordinals that separate rows do not repeat
  std::vector<int64_t> repetitions;   ///< measure: those that are missing
  std::optional<store::ResultId> quality;  ///< measure: the predict result to compare outputs with
};

Result<CellOutcome> predict_cell(const RunContext& context, const CellTarget& target,
                                 HostPool& pool);

/// Records that the cell's program failed before it could be asked anything.
Result<CellOutcome> failed_cell(const RunContext& context, const CellTarget& target,
                                const host::HostFailure& failure);

/// Records that the cell is not run, since a shorter one ran out of memory: `why`.
Result<CellOutcome> implied_cell(const RunContext& context, const CellTarget& target,
                                 const std::string& why);

/// Puts outputs that were read from a file into the store.
Result<CellOutcome> import_cell(const RunContext& context, const CellTarget& target);

/// Always in a host of its own, so that peak memory and caches are the cell's.
Result<CellOutcome> measure_cell(const RunContext& context, const CellTarget& target);

// Shared by both.

store::FailureKind failure_kind(host::Verdict verdict);

/// Why a host, or what cuts documents for it, could not be started: HostPool::not_started.
std::optional<Error> not_started(const RunContext& context, const HostPool& pool);
host::RunRequest run_request(const plan::Plan& plan, const plan::Cell& cell, int64_t unit_index,
                             const Unit& unit, bool measure);
int64_t produced_tokens(const host::UnitResults& results);
/// As the cell gets them: with the documents of others where it asks for them.
std::vector<NumberedExample> examples_of(const plan::Plan& plan, const plan::Cell& cell,
                                         const std::vector<int64_t>& ordinals);
/// Runs a unit; a host killed by a signal is replaced once and the unit tried again, of separate
/// rows those that are missing. `on_row` may be empty.
std::optional<host::HostFailure> run_unit(const RunContext& context, const plan::Cell& cell,
                                          HostPool& pool, const host::RunRequest& request,
                                          host::UnitResults& results,
                                          const host::RowSink& on_row = {});
/// `log_path`: of the host's log; empty: there is none.
Result<store::AttemptId> begin_attempt(const RunContext& context, store::ResultId result,
                                       const store::EnvironmentId& environment,
                                       const std::string& log_path = "");
/// Ends the attempt as the outcome says.
Status end_attempt(store::Store& store, store::AttemptId attempt, const CellOutcome& outcome);
void fail(CellOutcome& outcome, const host::HostFailure& failure);

}  // namespace qfs::run
