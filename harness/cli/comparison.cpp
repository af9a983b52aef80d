#include "harness/cli/comparison.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/api/metric_columns.h"
#include "harness/core/suggest.h"
#include "harness/score/score.h"
#include "metrics/stats/corpus_differences.h"
#include "metrics/stats/randomization.h"

namespace qfs::cli {
namespace {

using metrics::Alternative;

/// B minus A, row by row.
std::vector<Statistics> differences(const score::PairedStatistics& paired) {
  std::vector<Statistics> rows = paired.second;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t c = 0; c < rows[i].size(); ++c) rows[i][c] -= paired.first[i][c];
  }
  return rows;
}

/// B minus A plus `shift`, of one column.
std::vector<Statistics> column_differences(const score::PairedStatistics& paired, size_t column,
                                           double shift) {
  std::vector<Statistics> rows;
  rows.reserve(paired.first.size());
  for (size_t i = 0; i < paired.first.size(); ++i) {
    rows.push_back({paired.second[i][column] + (shift - paired.first[i][column])});
  }
  return rows;
}

double mean_of(const std::vector<Statistics>& rows, size_t column) {
  double sum = 0;
  for (const Statistics& row : rows) sum += row[column];
  return sum / static_cast<double>(rows.size());
}

void count_wins(const score::PairedStatistics& paired, size_t column, ComparedColumn& compared) {
  for (size_t i = 0; i < paired.first.size(); ++i) {
    const double a = paired.first[i][column];
    const double b = paired.second[i][column];
    ++(b > a ? compared.wins : b < a ? compared.losses : compared.ties);
  }
}

Result<std::optional<DropTest>> drop_test(const score::PairedStatistics& paired, size_t column,
                                          const ComparisonRequest& request, const Metric* metric) {
  const auto wanted = request.max_drops.find(paired.columns[column]);
  if (wanted == request.max_drops.end()) return std::optional<DropTest>();
  DropTest test{.margin = wanted->second};
  if (paired.is_mean[column]) {
    const auto p = metrics::randomization_p(column_differences(paired, column, test.margin),
                                            paired.clusters, Alternative::less);
    if (!p) return p.error();
    test.p = p->front();
  } else {
    const auto drop = metrics::bootstrap_corpus_drop(paired.second, paired.first, paired.clusters,
                                                     metrics::values_of(*metric), column,
                                                     test.margin, {.level = 1 - kLevel});
    if (!drop) {
      Error error = drop.error();
      error.message = "--max-drop " + paired.columns[column] + ": " + error.message;
      return error;
    }
    test.p = drop->p;
    test.bound = drop->bound;
  }
  test.worse = test.p < kLevel;
  return std::optional(test);
}

std::vector<DifferentExample> most_different(const score::PairedStatistics& paired, size_t column,
                                             size_t count) {
  std::vector<DifferentExample> examples;
  for (size_t i = 0; i < paired.ordinals.size(); ++i) {
    DifferentExample example{paired.ordinals[i], paired.ids.empty() ? "" : paired.ids[i],
                             paired.first[i][column], paired.second[i][column]};
    if (example.a != example.b) examples.push_back(std::move(example));
  }
  std::ranges::stable_sort(examples, std::greater<>(),
                           [](const DifferentExample& e) { return std::abs(e.b - e.a); });
  examples.resize(std::min(examples.size(), count));
  return examples;
}

/// Indices of the columns to show.
std::vector<size_t> chosen_columns(const std::vector<std::string>& columns,
                                   const ComparisonRequest& request) {
  std::vector<size_t> chosen;
  for (size_t c = 0; c < columns.size(); ++c) {
    const bool wanted = request.columns.empty() ? columns[c].ends_with(".f")
                                                : std::ranges::count(request.columns, columns[c]);
    if (wanted || request.max_drops.contains(columns[c])) chosen.push_back(c);
  }
  if (chosen.empty() && request.columns.empty()) {
    for (size_t c = 0; c < columns.size(); ++c) {
      if (!is_statistic(columns[c])) chosen.push_back(c);
    }
  }
  return chosen;
}

std::vector<double> corpus_values(const std::vector<Statistics>& rows,
                                  const metrics::MeansTransform& values) {
  std::vector<double> means(rows.front().size());
  for (size_t c = 0; c < means.size(); ++c) means[c] = mean_of(rows, c);
  values(means, static_cast<double>(rows.size()));
  return means;
}

/// Columns that are no means of examples but that the metric makes of means (or sums) of
/// statistics.
struct CorpusColumns {
  std::vector<bool> testable;
  std::vector<double> a;
  std::vector<double> b;
  std::vector<metrics::PairedDifference> differences;
  std::vector<double> p;
};

Result<CorpusColumns> corpus_columns(const score::PairedStatistics& paired, const Metric* metric) {
  CorpusColumns columns;
  columns.testable.assign(paired.columns.size(), false);
  if (metric == nullptr || !std::ranges::count(paired.is_mean, false)) return columns;
  const metrics::MeansTransform values = metrics::values_of(*metric);
  columns.a = corpus_values(paired.first, values);
  columns.b = corpus_values(paired.second, values);
  // A metric may aggregate in another way still (the median of resamples), which this does not
  // test.
  const std::vector<Score> aggregated = metric->aggregate(paired.first);
  for (size_t c = 0; c < columns.testable.size(); ++c) {
    columns.testable[c] = std::abs(aggregated[c].value - columns.a[c]) <= 1e-9;
  }
  auto differences =
      metrics::bootstrap_corpus_differences(paired.second, paired.first, paired.clusters, values);
  if (!differences) return differences.error();
  columns.differences = *std::move(differences);
  auto p = metrics::randomization_corpus_p(paired.first, paired.second, paired.clusters, values);
  if (!p) return p.error();
  columns.p = *std::move(p);
  return columns;
}

/// The metric of a stored score in this program, if its numbers are still made in the same way.
std::shared_ptr<const Metric> same_metric(const store::ScoreJobRow& job,
                                          const MetricCatalog& catalog) {
  Result<std::shared_ptr<const Metric>> metric = catalog.make(job.metric);
  if (!metric) return nullptr;
  if (score::scored_signature(**metric, job.postprocess) != job.signature) return nullptr;
  return *std::move(metric);
}

}  // namespace

Result<Comparison> compare_metric(const score::PairedStatistics& paired,
                                  const ComparisonRequest& request, const Metric* metric) {
  Comparison comparison;
  comparison.examples = static_cast<int64_t>(paired.ordinals.size());
  comparison.only_a = paired.only_first;
  comparison.only_b = paired.only_second;
  auto intervals = metrics::bootstrap_differences(paired.second, paired.first, paired.clusters);
  if (!intervals) return intervals.error();
  auto p = metrics::randomization_p(differences(paired), paired.clusters, Alternative::different);
  if (!p) return p.error();
  const Result<CorpusColumns> corpus = corpus_columns(paired, metric);
  if (!corpus) return corpus.error();
  for (size_t c : chosen_columns(paired.columns, request)) {
    const bool is_mean = paired.is_mean[c];
    if (!is_mean && !corpus->testable[c]) {
      if (request.max_drops.contains(paired.columns[c])) {
        return invalid_argument("--max-drop: the corpus value of '" + paired.columns[c] +
                                "' is neither the mean of its examples nor made of such means, so "
                                "there is no test of a drop");
      }
      comparison.left_out.push_back(paired.columns[c]);
      continue;
    }
    ComparedColumn& column = comparison.columns.emplace_back();
    column.name = paired.columns[c];
    column.a = is_mean ? mean_of(paired.first, c) : corpus->a[c];
    column.b = is_mean ? mean_of(paired.second, c) : corpus->b[c];
    column.difference = is_mean ? (*intervals)[c] : corpus->differences[c];
    column.p = is_mean ? (*p)[c] : corpus->p[c];
    count_wins(paired, c, column);
    auto drop = drop_test(paired, c, request, metric);
    if (!drop) return drop.error();
    column.drop = *drop;
    comparison.clusters = column.difference.interval.clusters;
    if (comparison.columns.size() == 1) {
      comparison.most_different = most_different(paired, c, request.examples);
    }
  }
  return comparison;
}

Status check_columns(const std::vector<std::string>& known, const ComparisonRequest& request) {
  std::vector<std::string> asked = request.columns;
  for (const auto& [name, margin] : request.max_drops) asked.push_back(name);
  for (const std::string& name : asked) {
    if (std::ranges::find(known, name) != known.end()) continue;
    return not_found("no score of both results has the column '" + name + "'" +
                     suggestion(name, known));
  }
  return {};
}

Result<std::vector<Comparison>> compare_results(const score::StoredResult& a,
                                                const score::StoredResult& b,
                                                const ComparisonRequest& request,
                                                const MetricCatalog& catalog) {
  auto jobs = a.reader->scores(a.id);
  if (!jobs) return jobs.error();
  auto other_jobs = b.reader->scores(b.id);
  if (!other_jobs) return other_jobs.error();
  std::set<std::string> signatures;
  for (const store::ScoreJobRow& job : *other_jobs) signatures.insert(job.signature);
  std::erase_if(*jobs, [&](const auto& job) { return !signatures.contains(job.signature); });
  if (jobs->empty()) {
    return not_found(
        "the two results have no score of the same metric and signature; 'qfs-bench score' adds "
        "them");
  }
  std::vector<std::string> columns;
  for (const store::ScoreJobRow& job : *jobs) {
    columns.insert(columns.end(), job.columns.begin(), job.columns.end());
  }
  if (Status known = check_columns(columns, request); !known) return known.error();

  std::vector<Comparison> comparisons;
  for (const store::ScoreJobRow& job : *jobs) {
    auto paired = score::paired_statistics(a, b, job.signature);
    if (!paired) return paired.error();
    if (paired->ordinals.empty()) return not_found("the two results have no example in common");
    Result<Comparison> comparison =
        compare_metric(*paired, request, same_metric(job, catalog).get());
    if (!comparison) return comparison.error();
    if (comparison->columns.empty() && comparison->left_out.empty()) continue;
    comparison->metric = job.metric;
    comparison->signature = job.signature;
    comparisons.push_back(*std::move(comparison));
  }
  return comparisons;
}

void adjust_for_several(std::vector<Comparison>& comparisons) {
  std::vector<double> p;
  for (const Comparison& comparison : comparisons) {
    for (const ComparedColumn& column : comparison.columns) p.push_back(column.p);
  }
  const std::vector<double> adjusted = metrics::holm_adjusted(p);
  size_t next = 0;
  for (Comparison& comparison : comparisons) {
    for (ComparedColumn& column : comparison.columns) column.p_holm = adjusted[next++];
  }
}

}  // namespace qfs::cli
