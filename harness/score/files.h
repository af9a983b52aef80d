// Scoring of files: predictions and references in any form that is read, as items, measured by
// several metrics, with intervals and signatures.
//
// Called by `score`, `compare` and what analyses texts (file_analyses.h); files_input.cpp reads,
// files.cpp measures. Not thread-safe. Errors are data errors with file:line, or name the option of
// `score` that is at fault.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/dataset.h"
#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "harness/score/bootstrap_intervals.h"
#include "harness/score/text_scorer.h"

namespace qfs::score {

enum class MissingPolicy { error, skip, zero };

/// What is read, and what is measured over it.
struct FilesRequest {
  std::string records;                  ///< JSONL or a file of `from`
  std::string predictions;              ///< line file
  std::vector<std::string> references;  ///< line files
  std::string references_dataset;       ///< NAME[:split[:view]]
  std::string from;                     ///< the tool whose file `records` is
  std::map<std::string, std::string> fields;
  std::vector<std::string> metrics;
  std::vector<std::string> postprocess;  ///< steps
  MissingPolicy missing = MissingPolicy::error;
  std::optional<int64_t> resamples;  ///< 0: no intervals
  unsigned threads = 0;              ///< 0: one a core

  bool any_input() const {
    return !records.empty() || !predictions.empty() || !references.empty() ||
           !references_dataset.empty() || !from.empty() || !fields.empty();
  }
};

/// What is known about the items besides their statistics.
struct ScoredItems {
  std::vector<std::string> ids;
  std::vector<std::string> groups;
  std::vector<std::string> clusters;
  std::vector<size_t> reference_hashes;  ///< to see whether two inputs have the same
  std::string unit = "item";  ///< what an interval resamples: item, group, cluster or document
  std::string source;         ///< "JSON lines out.jsonl", for people
  std::string dataset;        ///< "qmsum/test/whole#a1c2f00dbeef" when references are from there
  int64_t missing = 0;
  int64_t empty_predictions = 0;
  std::vector<bool> empty_texts;  ///< scored texts that are nothing, or white space alone
  int64_t empty_references = 0;
  int64_t python_lists = 0;
  int64_t other_predictions = 0;  ///< of repeated generations, not scored
  Json postprocess{"[]"};         ///< the chain that the texts went through
  int64_t processed = 0;          ///< predictions that it changed
  int64_t dropped_repeats = 0;    ///< equal rows that an importer met again
  size_t fewest_references = 0;
  size_t most_references = 0;
};

/// Reads every input into the scorer. A missing id, an extra id, a repeated id and an item without
/// references are errors.
Result<ScoredItems> read_items(const FilesRequest& request, const DatasetCatalog& datasets,
                               TextScorer& scorer);

/// The interval method of a run without resamples.
inline constexpr const char* kNoIntervals = "none";

/// One metric with its intervals and signatures.
struct FileScore {
  std::string name;  ///< as the user wrote it
  TextScore score;
  ColumnIntervals intervals;
  std::string long_signature;
  std::string short_signature;
  std::string tool_signature;  ///< what the tool with these digits prints; may be empty
};

struct FileScores {
  ScoredItems items;
  std::vector<FileScore> scores;
  std::string interval_method;
  MissingPolicy missing = MissingPolicy::error;
  std::vector<std::string> warnings;
};

/// The metrics over every item, before intervals and signatures.
struct MeasuredFiles {
  std::vector<std::string> names;  ///< of the metrics, as the user wrote them
  ScoredItems items;
  std::vector<TextScore> scores;
  std::vector<std::string> warnings;  ///< about what was read and measured
};

Result<MeasuredFiles> measure_files(const FilesRequest& request, const DatasetCatalog& datasets,
                                    const MetricCatalog& metrics);

Result<FileScores> score_files(const FilesRequest& request, const DatasetCatalog& datasets,
                               const MetricCatalog& metrics);

std::string to_string(MissingPolicy policy);
/// The policy of that name; `error` for every other one.
MissingPolicy missing_policy(std::string_view name);

}  // namespace qfs::score
