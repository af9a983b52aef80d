// The rows of a store as plain structs: what Store writes and Reader returns.
//
// Used by run, score, reports and the command line. Ids that are digests (cells, data sets,
// numerics, scores, sweeps, environments) mean the same in every store; ResultId and AttemptId are
// row numbers of one file and never leave it. Value types without behaviour.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/dataset.h"
#include "harness/api/ids.h"
#include "harness/api/json.h"
#include "harness/api/metric.h"
#include "harness/api/prediction.h"
#include "harness/store/states.h"

namespace qfs::store {

using SweepId = Id<struct SweepTag>;              ///< SHA-256 of resolved configuration and cells
using EnvironmentId = Id<struct EnvironmentTag>;  ///< SHA-256 of numerics, host and build facts

/// A row number of one store file.
template <class Tag>
struct RowId {
  int64_t value = 0;
  friend auto operator<=>(const RowId&, const RowId&) = default;
};
using ResultId = RowId<struct ResultTag>;
using AttemptId = RowId<struct AttemptTag>;

// --- What is asked -------------------------------------------------------------------------------

/// The artifact that a predicting cell rests on, in the role that its method gives it: one of a
/// training cell, or an imported file.
struct Dependency {
  std::string role;
  CellId training_cell;  ///< put before the cell that rests on it; empty: imported
  std::string sha256;    ///< of the imported artifact; empty with a training cell

  friend bool operator==(const Dependency&, const Dependency&) = default;
};

struct CellRow {
  CellId id;      ///< make_cell_id(identity)
  Json identity;  ///< the canonical hash input of `id`
  std::string method;
  bool oracle = false;  ///< saw references or evidence; marked so in every table
  Json params;          ///< every resolved parameter, canonical object
  DatasetId dataset;    ///< put first, by Store::put_dataset
  uint64_t seed = 0;
  std::vector<int64_t> ordinals;  ///< the examples it is asked for, ascending, not empty
  /// A cell that trains on `ordinals` of `dataset` and has train results; others predict.
  bool training = false;
  DatasetId development;                 ///< what chooses while it trains; empty: nothing
  std::vector<Dependency> dependencies;  ///< by role
};

/// The seed that a place is shown for; no parameter can have this name.
inline constexpr const char* kShownSeed = "shown-seed";

/// A cell's place in a sweep. Two places may hold one cell with different numerics parameters
/// (batch sizes); which results belong to a place is said by Store::use_result.
struct SweepCell {
  CellId cell;
  std::string label;  ///< row name in tables
  /// Every resolved parameter, those of numerics included, `backbone`, `tokenizer`; `kShownSeed`
  /// where the cell is shown for another seed than its own, because the seed does not matter to it.
  Json params;
  std::vector<int64_t> measure_ordinals;  ///< the timed sub-sample; empty: not measured

  friend bool operator==(const SweepCell&, const SweepCell&) = default;
};

struct SweepRow {
  SweepId id;  ///< filled by Store::put_sweep and Reader
  std::string name;
  Json config;                   ///< the resolved sweep file
  std::vector<SweepCell> cells;  ///< in table order
  std::string created_at;        ///< filled by Reader
};

struct SweepInfo {
  SweepId id;
  int64_t number = 0;  ///< from 1, in the order in which the store first saw them
  std::string name;
  std::string created_at;
  int64_t cells = 0;
};

// --- Data ----------------------------------------------------------------------------------------

struct DatasetRow {
  DatasetId id;
  DatasetManifest manifest;
  int64_t examples = 0;
  bool texts_stored = false;      ///< references and queries are in the store
  bool documents_stored = false;  ///< documents too
};

/// An example by hashes; the texts come from Reader::example.
struct ExampleRow {
  int64_t ordinal = 0;
  std::string key;
  std::string document_id;
  std::string group;
  std::string language;
  std::string sha256;           ///< the reader's hash of the whole example
  std::string document_sha256;  ///< of its segments' canonical form, Reader::text's key
  std::string query_sha256;
  std::vector<std::string> reference_sha256s;
};

// --- How it was computed -------------------------------------------------------------------------

struct EnvironmentRow {
  EnvironmentId id;  ///< filled by Store::put_environment and Reader
  NumericsId numerics_id;
  Json numerics;  ///< the canonical hash input of `numerics_id`
  Json host;      ///< facts about the machine, without names of users and hosts
  Json build;     ///< build_facts()
};

struct ResultKey {
  CellId cell;
  NumericsId numerics;
  ResultKind kind = ResultKind::predict;

  friend auto operator<=>(const ResultKey&, const ResultKey&) = default;
};

/// What a result is complete with; a predict result with the outputs of its cell's examples.
struct Expected {
  int64_t repetitions = 0;         ///< of a measure result, at least one
  std::vector<std::string> roles;  ///< of a train result's artifacts, at least one
};

/// A result with its derived status.
struct ResultRow {
  ResultId id;
  ResultKey key;
  Completeness status = Completeness::not_started;
  int64_t done = 0;                         ///< outputs, repetitions or artifacts that are there
  int64_t expected = 0;                     ///< of how many
  FailureKind failure = FailureKind::none;  ///< of the last attempt, when status is `failed`
  std::string failure_text;
  bool running = false;  ///< the process of the last attempt runs, on this machine
};

/// A result that a sweep uses, with its place there.
struct SweepResult {
  int64_t position = 0;  ///< index into SweepRow::cells
  ResultRow result;
};

struct AttemptOptions {
  ResultId result;
  EnvironmentId environment;
  std::string worker;    ///< "driver", or a shard's name
  std::string log_path;  ///< of the host, relative to the store's folder
};

struct AttemptEnd {
  AttemptState state = AttemptState::done;
  FailureKind failure = FailureKind::none;  ///< not `none` exactly when the state is `failed`
  std::string message;
};

struct AttemptRow {
  AttemptId id;
  ResultId result;
  EnvironmentId environment;
  AttemptState state = AttemptState::running;
  FailureKind failure = FailureKind::none;
  std::string message;
  std::string worker;
  std::string log_path;
  std::string started_at;
  std::string ended_at;  ///< empty while running
};

// --- Outputs -------------------------------------------------------------------------------------

struct OutputRow {
  int64_t ordinal = 0;
  Prediction prediction;
  std::string sha256;  ///< output_digest(prediction); filled by Reader
};

/// What a commit did. A conflict is an output that differs from the one that is there: the first is
/// kept, the second stored as evidence of non-determinism.
struct CommitOutcome {
  int64_t written = 0;
  int64_t kept = 0;  ///< already there and equal
  std::vector<int64_t> conflicting_ordinals;
};

struct ConflictRow {
  ResultId result;
  int64_t ordinal = 0;
  AttemptId first_attempt;
  AttemptId second_attempt;
  std::string first_sha256;
  std::string second_sha256;
  std::string first_text;
  std::string second_text;
};

struct OutputHash {
  int64_t ordinal = 0;
  std::string sha256;
  friend auto operator<=>(const OutputHash&, const OutputHash&) = default;
};

/// The byte-equality list of one predict result.
struct ResultHashes {
  CellId cell;
  NumericsId numerics;
  std::vector<OutputHash> outputs;  ///< by ordinal
  friend auto operator<=>(const ResultHashes&, const ResultHashes&) = default;
};

// --- Training ------------------------------------------------------------------------------------

/// A file that training made.
struct ArtifactRow {
  std::string role;
  std::string sha256;
  int64_t bytes = 0;
  std::string location;  ///< relative to the store's folder, and inside it

  friend bool operator==(const ArtifactRow&, const ArtifactRow&) = default;
};

/// What a commit of artifacts did; as CommitOutcome.
struct ArtifactOutcome {
  int64_t written = 0;
  int64_t kept = 0;
  std::vector<std::string> conflicting_roles;
};

struct ArtifactConflictRow {
  ResultId result;
  std::string role;
  AttemptId first_attempt;
  AttemptId second_attempt;
  std::string first_sha256;
  std::string second_sha256;
};

/// What the curve says at a step; see qfs::TrainingPoint for the names.
struct TrainingPointRow {
  int64_t step = 0;
  std::map<std::string, double> values;

  friend bool operator==(const TrainingPointRow&, const TrainingPointRow&) = default;
};

// --- Measurements --------------------------------------------------------------------------------

struct MeasurementRow {
  int64_t repetition = 0;  ///< filled by Reader
  int64_t unit = 0;        ///< position of the unit in the timed sub-sample
  std::string phase;       ///< "prefill", "decode", "first_token", "total", or as in work_rows.h
  int64_t ns = 0;
  int64_t tokens = 0;  ///< of the whole unit in that phase
};

/// Memory of one repetition. Kinds: host_peak, device_allocated_peak (held by tensors),
/// device_requested_peak (what they asked for), device_reserved_peak (held by their allocator),
/// device_used_peak (on the whole device, by the driver's count, at the end of a unit),
/// device_used_before (the same before the host came to the device).
struct MemoryRow {
  int64_t repetition = 0;  ///< filled by Reader
  std::string kind;
  int64_t bytes = 0;
};

// --- Scores --------------------------------------------------------------------------------------

struct ScoreInterval {
  double low = 0;
  double high = 0;
  friend bool operator==(const ScoreInterval&, const ScoreInterval&) = default;
};

/// One column of a metric over a whole result.
struct ScoreRow {
  std::string name;
  double value = 0;
  std::optional<ScoreInterval> interval;  ///< absent: too few clusters

  friend bool operator==(const ScoreRow&, const ScoreRow&) = default;
};

struct StatisticRow {
  int64_t ordinal = 0;
  std::string processed_sha256;  ///< of the text that was scored; empty: the output itself
  Statistics values;             ///< in the order of ScoreJob::columns, finite

  friend bool operator==(const StatisticRow&, const StatisticRow&) = default;
};

/// Everything one metric says about one result; stored whole or not at all.
struct ScoreJob {
  ScoreId id;  ///< make_score_id(cell_id, numerics_id, postprocess, signature)
  ResultId result;
  std::string metric;
  std::string signature;
  Json postprocess{"[]"};  ///< the chain that made candidates of raw texts
  std::vector<std::string> columns;
  std::vector<StatisticRow> statistics;      ///< by ordinal
  std::vector<std::string> processed_texts;  ///< scored texts that differ from outputs, to store
  std::vector<ScoreRow> scores;              ///< one a column
  int64_t clusters = 0;                      ///< documents, the unit of resampling
  std::string interval_method;  ///< e.g. "bootstrap|n:10000|seed:12345|level:0.95"; empty: none
};

/// A stored score job without its statistics.
struct ScoreJobRow {
  ScoreId id;
  ResultId result;
  std::string metric;
  std::string signature;
  Json postprocess;
  std::vector<std::string> columns;
  std::vector<ScoreRow> scores;
  int64_t clusters = 0;
  std::string interval_method;
  int64_t n = 0;         ///< examples scored
  int64_t expected = 0;  ///< examples of the cell; n < expected: a partial score
};

struct EventRow {
  std::string at;  ///< UTC
  std::optional<AttemptId> attempt;
  EventLevel level = EventLevel::info;
  std::string text;
};

}  // namespace qfs::store
