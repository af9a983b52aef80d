// Store: the one writer of a store file (SQLite). Everything the program learns ends here, a
// transaction at a time, so that a killed process leaves whole units and the same command
// continues.
//
// Called by run and score in the driver. One Store a file: the lock `<path>.lock` is held until
// destruction, a second one gets a `store` error that names the holder. Not thread-safe. Every
// failure of the file (not ours, newer, read-only, full disk, damaged) is a `store` error that says
// what to do; a broken rule of the caller is `internal`. After an error nothing of that call is
// kept.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/dataset.h"
#include "harness/api/result.h"
#include "harness/api/training.h"
#include "harness/store/rows.h"

namespace qfs::store {

struct OpenOptions {
  bool create = true;           ///< make the file when there is none; else `not_found`
  int busy_timeout_ms = 10000;  ///< for readers that hold a checkpoint back
};

struct StoreState;

class Store {
 public:
  /// Locks, creates or migrates (after a backup `<path>.v<N>-backup`), and checks that it is ours.
  static Result<Store> open(const std::string& path, const OpenOptions& options = {});
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();  ///< checkpoints, closes, unlocks

  const std::string& path() const;
  /// As every commit does: a `store` error when the file is no longer the one at `path`.
  Status check_place();

  // --- What is asked. Each call is idempotent and writes nothing the second time. ---

  /// Manifest, example rows and texts. Without `store_documents` documents are kept as hashes only;
  /// a data set marked `no_redistribution` keeps no text at all.
  Status put_dataset(const Dataset& dataset, bool store_documents = true);
  /// `internal` unless `cell.id` is the id of `cell.identity`, and its data sets and the training
  /// cells that it rests on are there.
  Status put_cell(const CellRow& cell);
  Status put_cells(std::span<const CellRow> cells);  ///< as put_cell, in one transaction
  /// Stores the sweep and makes it the latest of its name.
  Result<SweepId> put_sweep(const SweepRow& sweep);
  /// From here on this result (of its kind) is what the sweep shows at this position.
  Status use_result(const SweepId& sweep, int64_t position, ResultId result);
  Result<EnvironmentId> put_environment(const EnvironmentRow& environment);

  // --- Results and attempts ---

  /// The result with this key, made when there is none. More repetitions than before extend a
  /// measure result; other roles than before are `internal`, since a cell's id fixes them.
  Result<ResultId> ensure_result(const ResultKey& key, const Expected& expected = {});
  /// Ordinals whose outputs are there, ascending.
  Result<std::vector<int64_t>> present_ordinals(ResultId result);
  /// Repetitions that are there, ascending.
  Result<std::vector<int64_t>> present_repetitions(ResultId result);

  /// A running attempt of this process (pid, start time, boot id).
  Result<AttemptId> begin_attempt(const AttemptOptions& options);
  Status end_attempt(AttemptId attempt, const AttemptEnd& end);
  /// The failure of the result's last attempt, when that is how it ended.
  Result<std::optional<AttemptRow>> last_failure(ResultId result);
  /// Marks running attempts whose process is gone as abandoned; returns how many.
  Result<int64_t> abandon_dead_attempts();

  // --- Facts, one transaction a call ---

  /// The outputs of a unit (or a group of units) with their texts. Outputs that are there already
  /// are compared, never overwritten.
  Result<CommitOutcome> commit_outputs(ResultId result, AttemptId attempt,
                                       std::span<const OutputRow> outputs);
  /// One repetition of a measure result; kept as it is when it is there already.
  Status commit_repetition(ResultId result, AttemptId attempt, int64_t repetition,
                           std::span<const MeasurementRow> measurements,
                           std::span<const MemoryRow> memory);
  /// Artifacts of a train result, each in one of its roles, with what they cost. Those that are
  /// there already are compared, never overwritten, and keep their cost; equal ones lie where they
  /// were found last.
  Result<ArtifactOutcome> commit_artifacts(ResultId result, AttemptId attempt,
                                           std::span<const ArtifactRow> artifacts,
                                           const TrainingCost& cost);
  /// Points of the curve of a train result. A training that was continued repeats steps: what it
  /// says last is kept.
  Status put_training_points(ResultId result, AttemptId attempt,
                             std::span<const TrainingPoint> points);
  /// A whole score job. A partial one is replaced by one with more examples; an equal one is kept;
  /// a different one under the same id is a `data` error (the metric changed, its signature did
  /// not).
  Status put_scores(const ScoreJob& job);
  /// Whether the job is stored with all expected examples.
  Result<bool> has_scores(const ScoreId& id);

  Status log_event(EventLevel level, std::string_view text,
                   std::optional<AttemptId> attempt = std::nullopt);

 private:
  explicit Store(std::unique_ptr<StoreState> state);
  std::unique_ptr<StoreState> state_;
};

/// SHA-256 over everything a prediction says (text, finish, token counts, truncation, prompt,
/// repairs, extra): the output hash of byte equality.
std::string output_digest(const Prediction& prediction);

/// The id that put_sweep gives: SHA-256 over the resolved configuration and the cells in order.
SweepId make_sweep_id(const SweepRow& sweep);

}  // namespace qfs::store
