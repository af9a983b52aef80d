// run_plan: executes a plan against a store — starts hosts, sends units, commits what comes back,
// and survives whatever the hosts do. Running the same command again continues where it ended.
//
// One call at a time per store; signals are handled inside (SignalWatch). A cell
// that fails is a row in the store and an outcome in the summary, not an error of this function; an
// error means that the sweep as a whole cannot go on (store, environment).
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/api/method.h"
#include "harness/api/result.h"
#include "harness/plan/plan.h"
#include "harness/run/progress.h"
#include "harness/store/store.h"

namespace qfs::run {

/// argv of the programs that host built-in methods.
struct HostPrograms {
  std::vector<std::string> light;   ///< {".../qfs-bench", "host"}
  std::vector<std::string> tensor;  ///< {".../qfs-host"}; empty when this build has none
};

/// How another machine's qfs-host computes, as its `qfs-host probe` says.
struct AssumedHost {
  RuntimeOptions runtime;
  Json numerics;
};

struct RunOptions {
  HostPrograms programs;
  std::string device = "cpu";          ///< of tensor hosts: cpu or cuda
  std::string dtype = "float32";       ///< of tensor hosts
  int threads = 0;                     ///< intra-op threads of tensor hosts; 0: available cores
  std::set<store::FailureKind> retry;  ///< remembered failures to try again
  std::optional<plan::Filter> rerun;   ///< cells to compute anew although they are complete
  int64_t max_failures = 0;            ///< stop after that many failed cells; 0: never
  std::optional<AssumedHost> assumed;  ///< plan only: ids of tensor cells as on that machine
  bool accept_numerics = false;        ///< a complete result of other numerics counts
  bool measure = true;
  bool probe = false;                  ///< the store's runs stay as they are: no sweep shows it
  bool train_only = false;             ///< no cell predicts
  std::optional<int64_t> train_steps;  ///< optimiser steps of each training in this run
  const plan::Plan* whole = nullptr;   ///< the sweep of which the plan is a shard; null: itself
  std::string trained_in;  ///< a store whose trained files are used where they are; empty: none
  std::function<void(int signal)> on_signal;  ///< the first one, on a thread of its own
};

/// What the plan's cell at the same index has in the store after the run.
struct CellResults {
  std::optional<store::ResultId> predict;
  std::optional<store::ResultId> measure;
};

/// What the plan's training at the same index has in the store after the run.
struct TrainingResult {
  std::optional<store::ResultId> result;  ///< none: what it begins with is not complete
  bool complete = false;
};

struct RunSummary {
  std::vector<TrainingResult> trainings;  ///< as Plan::trainings
  std::vector<CellResults> results;       ///< as Plan::cells
  size_t complete = 0;                    ///< predict results, reused ones included
  size_t reused = 0;
  size_t failed = 0;
  size_t trainings_failed = 0;            ///< whose cells are incomplete
  std::set<store::FailureKind> failures;  ///< of the failed
  size_t incomplete = 0;                  ///< stopped before their end
  size_t timings_failed = 0;              ///< of complete cells
  size_t timings_left = 0;                ///< likewise, not tried
  size_t conflicts = 0;                   ///< outputs that were not reproduced
  int interrupted_by = 0;                 ///< signal number, 0 when it ran to its end
};

Result<RunSummary> run_plan(const plan::Plan& plan, store::Store& store, const RunOptions& options,
                            Progress& progress);

/// What a cell would find out later: whether the file of each tokenizer is one, which a light host
/// opens, whether methods take their examples, those of trainings too (MethodSpec::check_example),
/// and whether these are within their bounds (MethodSpec::token_bound). The error is at the method.
/// Documents without text are warned of.
Status check_inputs(const plan::Plan& plan, const RunOptions& options);

/// How much of a plan the store at `store_path` already holds, for `plan`; by cell. Needs hosts
/// only to learn their numerics (probes are cached per program).
struct Reuse {
  size_t present = 0;  ///< outputs that are there
  size_t expected = 0;
  bool known = true;  ///< false: the host's numerics could not be learnt
  /// Trainings that are done before it, in order; nothing else is known then.
  std::vector<size_t> trainings = {};
  std::vector<size_t> begun = {};  ///< those of them that left something to continue from
  store::FailureKind failure = store::FailureKind::none;  ///< of the last attempt, where incomplete
  std::optional<double> example_seconds = {};  ///< as the store has seen; of programs and servers

  bool waiting() const { return !trainings.empty(); }
};
Result<std::vector<Reuse>> reuse_of(const plan::Plan& plan, const std::string& store_path,
                                    const RunOptions& options);

}  // namespace qfs::run
