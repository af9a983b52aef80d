// Scores of another program, read from files: their intervals, tests between systems, and the score
// that they are of a stored cell.
//
// Called by `score --import`; imported_scores.cpp reads, imported_analysis.cpp tests and
// imported_job.cpp makes what a store keeps. Not thread-safe. Errors are data errors with
// file:line, or name the option or the cell.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "harness/score/bootstrap_intervals.h"
#include "harness/score/imported_metric.h"
#include "harness/store/rows.h"
#include "metrics/stats/bootstrap.h"

namespace qfs::score {

struct ImportRequest {
  std::vector<std::string> files;
  std::string tool;    ///< "NAME@VERSION"
  std::string system;  ///< of records without one
};

/// The values of one metric for one system, in the order of the file.
struct ImportedSeries {
  std::string system;
  std::vector<std::string> ids;
  std::vector<std::string> clusters;  ///< what is resampled: clusters, else groups, else ids
  std::vector<Statistics> values;
};

struct ImportedScores {
  std::shared_ptr<const ImportedMetric> metric;
  std::vector<ImportedSeries> systems;  ///< in the order of the file
};

/// All metrics of the files. Every metric has the same columns throughout; an id is there once.
Result<std::vector<ImportedScores>> read_imported_scores(const ImportRequest& request);

/// The first system of the file beside another one, on the items that both have.
struct ImportedTest {
  std::string a;
  std::string b;
  size_t items = 0;
  std::vector<metrics::PairedDifference> differences;  ///< b - a
  std::vector<double> p;
  std::vector<double> p_holm;  ///< over everything that one command tests
};

struct AnalysedImport {
  const ImportedScores* scores = nullptr;
  std::vector<std::vector<Score>> values;  ///< by system
  std::vector<ColumnIntervals> intervals;
  std::vector<ImportedTest> tests;
};

/// One of each of `scores`, which it refers to.
Result<std::vector<AnalysedImport>> analyse_imported(const std::vector<ImportedScores>& scores,
                                                     int64_t resamples);

/// One series as the score of a cell's predict result, whose examples are among `rows`. An id that
/// the cell's data set does not have, and without `partial` a missing one, are errors.
Result<store::ScoreJob> imported_job(const ImportedMetric& metric, const ImportedSeries& series,
                                     const store::CellRow& cell, const store::ResultRow& predict,
                                     std::span<const store::ExampleRow> rows, bool partial);

}  // namespace qfs::score
