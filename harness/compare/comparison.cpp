#include "harness/compare/comparison.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "harness/api/metric_columns.h"
#include "harness/core/suggest.h"
#include "metrics/stats/cluster_sums.h"
#include "metrics/stats/corpus_differences.h"
#include "metrics/stats/power.h"
#include "metrics/stats/randomization.h"

namespace qfs::compare {
namespace {

using metrics::Alternative;

/// These columns of rows.
std::vector<Statistics> narrowed(const std::vector<Statistics>& rows,
                                 const std::vector<size_t>& columns) {
  std::vector<Statistics> result(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    result[i].reserve(columns.size());
    for (const size_t c : columns) result[i].push_back(rows[i][c]);
  }
  return result;
}

/// `b` minus `a`, row by row.
std::vector<Statistics> differences(const std::vector<Statistics>& a, std::vector<Statistics> b) {
  for (size_t i = 0; i < b.size(); ++i) {
    for (size_t c = 0; c < b[i].size(); ++c) b[i][c] -= a[i][c];
  }
  return b;
}

/// What `high` has more than `low`, plus `shift`, times `sign`, of one column.
std::vector<Statistics> shifted(const std::vector<Statistics>& high,
                                const std::vector<Statistics>& low, size_t column, double shift,
                                double sign = 1) {
  std::vector<Statistics> rows;
  rows.reserve(high.size());
  for (size_t i = 0; i < high.size(); ++i) {
    rows.push_back({sign * (high[i][column] + (shift - low[i][column]))});
  }
  return rows;
}

double mean_of(const std::vector<Statistics>& rows, size_t column) {
  std::vector<double> values;
  for (const Statistics& row : rows) values.push_back(row[column]);
  return metrics::sum_of(std::move(values)) / static_cast<double>(rows.size());
}

/// Rows that say something of their own: where one of a group stands for it (column "chosen"), in
/// both results that one.
std::vector<size_t> own_rows(const PairedStatistics& paired) {
  const auto column = std::ranges::find(paired.columns, "chosen") - paired.columns.begin();
  const auto chosen = static_cast<size_t>(column);
  std::vector<size_t> rows;
  for (size_t i = 0; i < paired.first.size(); ++i) {
    const bool stands = chosen == paired.columns.size() ||
                        (paired.first[i][chosen] > 0 && paired.second[i][chosen] > 0);
    if (stands) rows.push_back(i);
  }
  return rows;
}

void count_examples(const PairedStatistics& paired, size_t column, ComparedColumn& compared) {
  for (const size_t i : own_rows(paired)) {
    const double a = paired.first[i][column];
    const double b = paired.second[i][column];
    ++(b > a ? compared.higher : b < a ? compared.lower : compared.equal);
  }
}

bool unchanged(const PairedStatistics& paired, size_t column) {
  return std::ranges::equal(paired.first, paired.second, [column](const auto& a, const auto& b) {
    return a[column] == b[column];
  });
}

bool any_negative(const std::vector<Statistics>& rows, size_t column) {
  return std::ranges::any_of(rows, [column](const Statistics& row) { return row[column] < 0; });
}

/// By exchanging clusters: the value is a mean of examples.
Status test_mean(const PairedStatistics& paired, const std::vector<Statistics>& good,
                 const std::vector<Statistics>& bad, size_t column, Decision& decision) {
  const double margin = decision.margin.size;
  const auto p = [&](double sign) {
    return metrics::randomization_p(shifted(good, bad, column, margin, sign), paired.clusters,
                                    Alternative::less);
  };
  const auto worse = p(1);
  if (!worse) return worse.error();
  const auto not_worse = p(-1);
  if (!not_worse) return not_worse.error();
  decision.p_worse = worse->front();
  decision.p_not_worse = not_worse->front();
  const auto error =
      metrics::cluster_standard_error(shifted(good, bad, column, 0), paired.clusters);
  if (!error) return error.error();
  decision.standard_error = *error;
  return {};
}

/// By the paired bootstrap: the value is made of means, or of sums.
Status test_corpus(const PairedStatistics& paired, const std::vector<Statistics>& good,
                   const std::vector<Statistics>& bad, size_t column, const Metric& metric,
                   Decision& decision) {
  decision.bootstrap = true;
  if (decision.clusters < metrics::kMinimumClusters) return {};
  const auto tested =
      metrics::bootstrap_corpus_margin(good, bad, paired.clusters, metrics::values_of(metric),
                                       column, decision.margin.size, {.level = 1 - decision.level});
  if (!tested) return tested.error();
  decision.p_worse = tested->p_below;
  decision.p_not_worse = tested->p_above;
  decision.most = 0 - tested->low;
  decision.least = 0 - tested->high;
  decision.standard_error = tested->standard_error;
  return {};
}

/// What a metric says of its column is not for the command line to turn round.
Status check_better(const PairedStatistics& paired, const Request& request) {
  for (size_t c = 0; c < paired.columns.size(); ++c) {
    const auto said = request.better.find(paired.columns[c]);
    if (said == request.better.end() || said->second == paired.better[c]) continue;
    if (paired.better[c] != Better::higher && paired.better[c] != Better::lower) continue;
    const bool higher = paired.better[c] == Better::higher;
    return invalid_argument("--better " + said->first + (higher ? "=lower" : "=higher") +
                            ": by its metric " + (higher ? "higher" : "lower") +
                            " values are better");
  }
  return {};
}

/// A loss is tested in the direction that is worse.
Status check_direction(const ComparedColumn& column, const Margin& margin) {
  if (column.better == Better::higher || column.better == Better::lower) return {};
  const char* const option = margin.rule == Rule::max_drop ? "--max-drop" : "--non-inferior";
  return invalid_argument(
      std::string(option) + " " + column.name + ": " +
      (column.better == Better::neither
           ? "more of it is neither better nor worse"
           : "the program does not know whether more of it is better or worse") +
      "; --better " + column.name + "=higher (or =lower) says so");
}

int64_t cluster_count(const PairedStatistics& paired) {
  return std::ssize(std::set<std::string_view>(paired.clusters.begin(), paired.clusters.end()));
}

Status add_decision(const PairedStatistics& paired, size_t c, const Request& request,
                    const Metric* metric, ComparedColumn& column) {
  const auto wanted = request.margins.find(column.name);
  if (wanted == request.margins.end()) return {};
  if (Status known = check_direction(column, wanted->second); !known) return known;
  const bool higher = column.better == Better::higher;
  Decision decision;
  decision.margin = wanted->second;
  decision.level = request.level;
  decision.examples = static_cast<int64_t>(paired.ordinals.size());
  decision.minimum_examples = request.minimum_examples;
  if (!paired.noise.empty())
    decision.margin.noise = std::max(decision.margin.noise, paired.noise[c]);
  decision.margin.size = std::max(decision.margin.size, decision.margin.noise);
  decision.loss = higher ? column.a - column.b : column.b - column.a;
  decision.clusters = cluster_count(paired);
  decision.nothing_to_lose = higher && column.a <= decision.margin.size &&
                             !any_negative(paired.first, c) && !any_negative(paired.second, c);
  decision.unchanged = request.unchanged_passes && unchanged(paired, c);
  if (decision.unchanged) {
    column.decision = decision;
    return {};
  }
  // What B has more of the good, or less of the bad.
  const std::vector<Statistics>& good = higher ? paired.second : paired.first;
  const std::vector<Statistics>& bad = higher ? paired.first : paired.second;
  Status tested = paired.is_mean[c] ? test_mean(paired, good, bad, c, decision)
                                    : test_corpus(paired, good, bad, c, *metric, decision);
  column.decision = decision;
  return tested;
}

/// The clusters that have none of the compared examples, each once.
std::vector<std::string> uncompared_clusters(const std::vector<std::string>& of_left_out,
                                             const std::vector<std::string>& compared) {
  std::set<std::string> left(of_left_out.begin(), of_left_out.end());
  for (const std::string& cluster : compared) left.erase(cluster);
  return {left.begin(), left.end()};
}

std::vector<DifferentExample> most_different(const PairedStatistics& paired, size_t column,
                                             size_t count) {
  std::vector<DifferentExample> examples;
  for (const size_t i : own_rows(paired)) {
    DifferentExample example{paired.ordinals[i], paired.ids.empty() ? "" : paired.ids[i],
                             paired.first[i][column], paired.second[i][column]};
    if (example.a != example.b) examples.push_back(std::move(example));
  }
  std::ranges::stable_sort(examples, std::greater<>(),
                           [](const DifferentExample& e) { return std::abs(e.b - e.a); });
  examples.resize(std::min(examples.size(), count));
  return examples;
}

/// What is said of columns whose corpus values are means of examples; one entry a chosen column.
struct MeanColumns {
  std::vector<metrics::PairedDifference> differences;
  std::vector<double> p;
};

/// Each resample and each exchange is of clusters, the same for all columns, so a column's digits
/// do not depend on which others are `chosen`; the time does.
Result<MeanColumns> mean_columns(const PairedStatistics& paired, const std::vector<size_t>& chosen,
                                 const Request& request) {
  MeanColumns columns;
  if (chosen.empty()) return columns;
  const std::vector<Statistics> a = narrowed(paired.first, chosen);
  const std::vector<Statistics> b = narrowed(paired.second, chosen);
  if (request.decisions_only) {
    const std::vector<Statistics> rows = differences(a, b);
    for (size_t c = 0; c < chosen.size(); ++c) {
      columns.differences.push_back({mean_of(rows, c), {}});
      columns.p.push_back(1);
    }
    return columns;
  }
  auto intervals = metrics::bootstrap_differences(b, a, paired.clusters);
  if (!intervals) return intervals.error();
  auto p = metrics::randomization_p(differences(a, b), paired.clusters, Alternative::different);
  if (!p) return p.error();
  columns.differences = *std::move(intervals);
  columns.p = *std::move(p);
  return columns;
}

/// Indices of the columns to show.
std::vector<size_t> chosen_columns(const std::vector<std::string>& columns,
                                   const Request& request) {
  std::vector<size_t> chosen;
  for (size_t c = 0; c < columns.size(); ++c) {
    const bool wanted = request.columns.empty() ? columns[c].ends_with(".f")
                                                : std::ranges::count(request.columns, columns[c]);
    if (wanted || request.margins.contains(columns[c])) chosen.push_back(c);
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

Result<CorpusColumns> corpus_columns(const PairedStatistics& paired, const Metric* metric,
                                     const Request& request) {
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
  if (request.decisions_only) {
    for (size_t c = 0; c < columns.a.size(); ++c) {
      columns.differences.push_back({columns.b[c] - columns.a[c], {}});
    }
    columns.p.assign(columns.a.size(), 1.0);
    return columns;
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

}  // namespace

bool Outcome::complete() const {
  return missing.empty() && !lost_metric && !comparisons.empty() &&
         (skip_missing || std::ranges::all_of(comparisons, [](const Comparison& comparison) {
            return comparison.only_a.empty();
          }));
}

bool Outcome::any(Verdict verdict) const {
  return std::ranges::any_of(comparisons, [&](const Comparison& comparison) {
    return std::ranges::any_of(comparison.columns, [&](const ComparedColumn& column) {
      return column.decision && column.decision->verdict == verdict;
    });
  });
}

Result<Comparison> compare_metric(const PairedStatistics& paired, const Request& request,
                                  const Metric* metric) {
  if (Status sound = check_better(paired, request); !sound) return sound.error();
  Comparison comparison;
  comparison.examples = static_cast<int64_t>(paired.ordinals.size());
  comparison.only_a = paired.only_first;
  comparison.only_b = paired.only_second;
  comparison.clusters_only_a = uncompared_clusters(paired.only_first_clusters, paired.clusters);
  comparison.clusters_only_b = uncompared_clusters(paired.only_second_clusters, paired.clusters);
  comparison.empty_a = paired.empty_first;
  comparison.empty_b = paired.empty_second;
  const std::vector<size_t> chosen = chosen_columns(paired.columns, request);
  const Result<MeanColumns> means = mean_columns(paired, chosen, request);
  if (!means) return means.error();
  comparison.clusters = cluster_count(paired);
  const Result<CorpusColumns> corpus = corpus_columns(paired, metric, request);
  if (!corpus) return corpus.error();
  for (size_t i = 0; i < chosen.size(); ++i) {
    const size_t c = chosen[i];
    const bool is_mean = paired.is_mean[c];
    if (!is_mean && !corpus->testable[c]) {
      if (request.margins.contains(paired.columns[c])) {
        return invalid_argument("the corpus value of '" + paired.columns[c] +
                                "' is neither the mean of its examples nor made of such means, so "
                                "there is no test of a margin");
      }
      comparison.left_out.push_back(paired.columns[c]);
      continue;
    }
    ComparedColumn& column = comparison.columns.emplace_back();
    column.name = paired.columns[c];
    const auto said = request.better.find(column.name);
    column.better = said != request.better.end() ? said->second : paired.better[c];
    column.a = is_mean ? mean_of(paired.first, c) : corpus->a[c];
    column.b = is_mean ? mean_of(paired.second, c) : corpus->b[c];
    column.difference = is_mean ? means->differences[i] : corpus->differences[c];
    column.p = is_mean ? means->p[i] : corpus->p[c];
    count_examples(paired, c, column);
    if (Status decided = add_decision(paired, c, request, metric, column); !decided) {
      return decided.error();
    }
    comparison.least_p = metrics::least_p(comparison.clusters, Alternative::different);
    if (comparison.columns.size() == 1) {
      comparison.most_different = most_different(paired, c, request.examples);
    }
  }
  return comparison;
}

Result<metrics::Interval> mean_interval(std::span<const double> values,
                                        std::span<const std::string> documents) {
  std::vector<Statistics> rows;
  for (const double value : values) rows.push_back({value});
  const auto intervals = metrics::bootstrap_means(rows, documents);
  if (!intervals) return intervals.error();
  return intervals->front();
}

std::string interval_signature() { return metrics::bootstrap_signature({}); }

std::string test_signature() { return metrics::randomization_signature({}); }

Status check_columns(const std::vector<std::string>& known, const Request& request) {
  std::vector<std::string> asked = request.columns;
  for (const auto& [name, margin] : request.margins) asked.push_back(name);
  for (const auto& [name, better] : request.better) asked.push_back(name);
  for (const std::string& name : asked) {
    if (std::ranges::find(known, name) != known.end()) continue;
    return not_found("no score of both results has the column '" + name + "'" +
                     suggestion(name, known));
  }
  return {};
}

bool concerns(const Request& request, const std::vector<std::string>& columns) {
  if (request.columns.empty() && request.margins.empty()) return true;
  return std::ranges::any_of(columns, [&](const std::string& column) {
    return request.margins.contains(column) || std::ranges::count(request.columns, column) > 0;
  });
}

void conclude(Outcome& outcome) {
  std::vector<double> p;
  std::vector<Decision*> decisions;
  for (Comparison& comparison : outcome.comparisons) {
    for (ComparedColumn& column : comparison.columns) {
      p.push_back(column.p);
      if (column.decision) decisions.push_back(&*column.decision);
    }
  }
  const std::vector<double> adjusted = metrics::holm_adjusted(p);
  size_t next = 0;
  for (Comparison& comparison : outcome.comparisons) {
    for (ComparedColumn& column : comparison.columns) column.p_holm = adjusted[next++];
  }
  decide(decisions);
}

}  // namespace qfs::compare
