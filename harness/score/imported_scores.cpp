#include "harness/score/imported_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "datasets/predictions/score_records.h"
#include "harness/core/sha256.h"

namespace qfs::score {
namespace {

using datasets::ScoreRecord;

/// One metric while its records come in.
struct Collected {
  std::string metric;
  std::vector<std::string> columns;
  std::vector<ImportedSeries> systems;
};

class ScoreCollector {
 public:
  explicit ScoreCollector(std::string default_system)
      : default_system_(std::move(default_system)) {}

  Status add(ScoreRecord record) {
    if (record.system.empty()) record.system = default_system_;
    Collected& metric = metric_of(record);
    if (Status status = check_columns(metric, record); !status) return status;
    if (!seen_.insert(record.metric + '\0' + record.system + '\0' + record.id).second) {
      return data_error(fmt::format("metric '{}' has id '{}' twice{}", record.metric, record.id,
                                    record.system.empty() ? "" : " for " + record.system),
                        record.where);
    }
    if (Status status = check_unit(record); !status) return status;
    ImportedSeries& series = series_of(metric, record.system);
    series.clusters.push_back(!record.cluster.empty() ? record.cluster
                              : !record.group.empty() ? record.group
                                                      : record.id);
    series.ids.push_back(std::move(record.id));
    Statistics& row = series.values.emplace_back();
    for (const auto& [column, value] : record.values) row.push_back(value);
    return {};
  }

  std::vector<Collected> metrics;

 private:
  Collected& metric_of(const ScoreRecord& record) {
    const auto found = std::ranges::find(metrics, record.metric, &Collected::metric);
    if (found != metrics.end()) return *found;
    Collected& metric = metrics.emplace_back();
    metric.metric = record.metric;
    for (const auto& [column, value] : record.values) metric.columns.push_back(column);
    return metric;
  }

  static ImportedSeries& series_of(Collected& metric, const std::string& system) {
    const auto found = std::ranges::find(metric.systems, system, &ImportedSeries::system);
    if (found != metric.systems.end()) return *found;
    metric.systems.push_back({system, {}, {}, {}});
    return metric.systems.back();
  }

  static Status check_columns(const Collected& metric, const ScoreRecord& record) {
    const bool equal =
        std::ranges::equal(metric.columns, record.values, {}, {},
                           [](const auto& item) -> const std::string& { return item.first; });
    if (equal) return {};
    return data_error(fmt::format("metric '{}' has the values {} before and others here",
                                  record.metric, fmt::join(metric.columns, ", ")),
                      record.where);
  }

  /// Items are resampled by clusters or groups only when all have one.
  Status check_unit(const ScoreRecord& record) {
    const std::string unit = !record.cluster.empty() ? "cluster"
                             : !record.group.empty() ? "group"
                                                     : "neither group nor cluster";
    if (unit_.empty()) unit_ = unit;
    if (unit == unit_) return {};
    return data_error(
        fmt::format("records before have {}, this one has {}; give all or none", unit_, unit),
        record.where);
  }

  std::string default_system_;
  std::string unit_;
  std::unordered_set<std::string> seen_;
};

/// "NAME@VERSION" that a signature can hold.
Status check_tool(const std::string& tool) {
  const size_t at = tool.find('@');
  const bool sound = at != std::string::npos && at > 0 && at + 1 < tool.size() &&
                     std::ranges::all_of(tool, [](char c) {
                       return c > ' ' && c < 0x7F && c != '|' && c != '"' && c != '\\';
                     });
  if (sound) return {};
  return invalid_argument(
      "--import needs --tool NAME@VERSION, the program that measured the scores, for instance "
      "--tool AlignScore@0.1.3" +
      (tool.empty() ? std::string() : "; found '" + tool + "'"));
}

}  // namespace

Result<std::vector<ImportedScores>> read_imported_scores(const ImportRequest& request) {
  if (Status status = check_tool(request.tool); !status) return status.error();
  ScoreCollector collector(request.system);
  std::string digests;
  for (const std::string& path : request.files) {
    if (path == "-") {
      return invalid_argument("--import reads files, whose SHA-256 is in the signature, not '-'");
    }
    const Result<std::string> digest = sha256_file(path);
    if (!digest) return digest.error();
    digests += *digest;
    Status read = datasets::read_score_records(
        path, [&](ScoreRecord record) { return collector.add(std::move(record)); });
    if (!read) return read.error();
  }
  const std::string source = request.files.size() == 1 ? digests : sha256_hex(digests);
  std::vector<ImportedScores> scores;
  for (Collected& metric : collector.metrics) {
    ImportedScores& imported = scores.emplace_back();
    imported.metric = std::make_shared<ImportedMetric>(metric.metric, std::move(metric.columns),
                                                       request.tool, source);
    imported.systems = std::move(metric.systems);
  }
  return scores;
}

}  // namespace qfs::score
