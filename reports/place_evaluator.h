// PlaceEvaluator: the table cells of one place of a sweep, value by value. Reads what a value needs
// from the store the first time it is asked for. Private to reports. Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "harness/store/reader.h"
#include "reports/evidence.h"
#include "reports/sweep_facts.h"
#include "reports/table.h"
#include "reports/value.h"

namespace qfs::reports {

/// A metric as the caller knows it: which of several stored versions a table shows.
struct MetricChoice {
  std::string name;       ///< as in a sweep's "metrics"
  std::string signature;  ///< of this program's version of it
  std::vector<std::string> columns = {};
  std::shared_ptr<const Metric> metric = nullptr;  ///< of this program; none for a stranger's
};

/// What the cells of a table rest on, for its signature line.
struct UsedSources {
  std::set<std::pair<std::string, std::string>> metrics;  ///< name, signature
  std::set<std::string> interval_methods;
};

struct EvaluatorContext {
  store::Reader& reader;
  EvidenceIndex& evidence;
  std::span<const MetricChoice> metrics;  ///< preferred, in order, to whatever else is stored
  UsedSources& used;
};

class PlaceEvaluator {
 public:
  PlaceEvaluator(const PlaceFacts& place, const EvaluatorContext& context)
      : place_(place), context_(context) {}

  /// `invalid_argument` when several stored scores have this column and nothing says which.
  Result<TableCell> evaluate(const ValueSpec& value);

 private:
  Result<TableCell> score(const ValueSpec& value);
  Result<TableCell> performance(const ValueSpec& value);
  TableCell machine_rate(std::string_view which) const;
  Result<TableCell> coverage(const ValueSpec& value);
  Result<TableCell> training(std::string_view cost);
  Result<TableCell> evidence_cut();
  TableCell served(const ValueSpec& value) const;
  TableCell mean_tokens(bool read) const;
  /// Of the outputs, which are loaded, that say it; the interval is by document, as of scores.
  Result<TableCell> mean_fact(const std::string& name);
  Result<const store::ScoreJobRow*> score_job(const ValueSpec& value) const;
  /// Of the texts that a job scored.
  Result<int64_t> empty_texts(const ScoreId& id);
  Status load_measurements();
  Status load_outputs();
  Status load_documents();
  /// TableCell::comparable of a number that was measured.
  Result<std::string> machine() const;

  const PlaceFacts& place_;
  EvaluatorContext context_;
  std::map<ScoreId, int64_t> empty_texts_;
  std::optional<std::vector<store::MeasurementRow>> measurements_;
  std::optional<std::vector<store::MemoryRow>> memory_;
  std::optional<std::vector<store::OutputRow>> outputs_;
  std::map<int64_t, std::string> documents_;  ///< of the data set's examples; empty: not loaded
};

}  // namespace qfs::reports
