// Reader: the read side of a store file, on a read-only connection of its own.
//
// Called by reports, score, `show`, `list` and `doctor`, also while a Store writes the same file:
// each call sees what was committed before it. A foreign store (somebody else's file) is copied to
// a private folder first and opened defensively: no triggers, no views, its schema compared word by
// word with the DDL of its version; paths in it are never followed. Not thread-safe. Failures of
// the file are `store` errors, a missing row is `not_found`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/example.h"
#include "harness/api/result.h"
#include "harness/api/training.h"
#include "harness/store/rows.h"

namespace qfs::store {

struct ReadOptions {
  bool foreign = false;  ///< from a stranger: copy and check before reading
};

struct ReaderState;

class Reader {
 public:
  /// `not_found` when there is no file; an older schema is readable after a Store has migrated it.
  static Result<Reader> open(const std::string& path, const ReadOptions& options = {});
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  // --- Sweeps and cells ---

  Result<std::vector<SweepInfo>> sweeps();  ///< latest first
  /// The latest sweep of this name, of all when empty; `not_found` suggests the nearest name.
  Result<SweepRow> latest_sweep(std::string_view name = {});
  Result<SweepRow> sweep(const SweepId& id);
  Result<CellRow> cell(const CellId& id);
  Result<std::vector<CellRow>> cells();  ///< all, by id
  /// The cells whose id starts with these hex digits.
  Result<std::vector<CellId>> cells_with_prefix(std::string_view hex);

  // --- Data ---

  Result<std::vector<DatasetRow>> datasets();
  Result<DatasetRow> dataset(const DatasetId& id);
  Result<std::vector<ExampleRow>> examples(const DatasetId& id);
  /// An example with its texts. `unavailable` when the store keeps hashes only; where only
  /// documents are missing, `document` is empty.
  Result<Example> example(const DatasetId& id, int64_t ordinal, bool with_document = true);
  Result<std::optional<std::string>> text(std::string_view sha256);

  // --- Results ---

  Result<std::vector<ResultRow>> results(const CellId& cell);
  /// The results that the sweep uses, by position and kind; places without one are not listed.
  Result<std::vector<SweepResult>> results_of_sweep(const SweepId& sweep);
  Result<std::optional<ResultRow>> find_result(const ResultKey& key);
  Result<ResultRow> result(ResultId id);
  Result<std::vector<AttemptRow>> attempts(ResultId result);
  Result<EnvironmentRow> environment(const EnvironmentId& id);
  /// An environment with these numerics (the first recorded), to explain a numerics_id.
  Result<std::optional<EnvironmentRow>> environment_of(const NumericsId& id);

  /// By ordinal, with texts; prompts only when asked for.
  Result<std::vector<OutputRow>> outputs(ResultId result, bool with_prompts = false);
  Result<std::optional<OutputRow>> output(ResultId result, int64_t ordinal);
  /// How many outputs are nothing, or white space alone.
  Result<int64_t> empty_outputs(ResultId result);
  Result<std::vector<ConflictRow>> conflicts();
  /// (cell, numerics, (ordinal, output hash)…) of all predict results: what must be byte-equal
  /// after a crash and the same command again.
  Result<std::vector<ResultHashes>> output_hashes();

  // --- Training ---

  Result<std::vector<ArtifactRow>> artifacts(ResultId result);  ///< by role
  Result<std::vector<ArtifactConflictRow>> artifact_conflicts();
  Result<std::vector<TrainingPointRow>> training_points(ResultId result);  ///< by step
  Result<std::optional<TrainingCost>> training_cost(ResultId result);

  // --- Measurements ---

  Result<std::vector<MeasurementRow>> measurements(ResultId result);
  Result<std::vector<MemoryRow>> memory(ResultId result);

  // --- Scores ---

  Result<std::vector<ScoreJobRow>> scores(ResultId result);
  Result<std::optional<ScoreJobRow>> score(const ScoreId& id);
  Result<std::vector<StatisticRow>> statistics(const ScoreId& id);  ///< by ordinal
  /// Examples whose scored text (the output after postprocessing) is nothing, or white space alone.
  Result<std::set<int64_t>> empty_scored_texts(const ScoreId& id);

  Result<std::vector<EventRow>> events(int64_t limit = 1000);  ///< latest first

  /// Problems found, empty when sound: SQLite's own check, foreign keys, schema, words that this
  /// program does not know, digests of texts, outputs, cells, environments and sweeps recomputed.
  Result<std::vector<std::string>> check_integrity();

 private:
  explicit Reader(std::unique_ptr<ReaderState> state);
  std::unique_ptr<ReaderState> state_;
};

}  // namespace qfs::store
