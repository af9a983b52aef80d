#include "harness/compare/compare_stores.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "harness/api/metric_columns.h"
#include "harness/score/score.h"

namespace qfs::compare {
namespace {

/// Why a cell has no score to compare; empty when it has one.
std::string lack_of(const StoredCell& cell, CellSource& source) {
  if (!cell.predict) return "not run";
  if (cell.predict->status == store::Completeness::failed) {
    std::string reason = fmt::format("failed ({})", to_string(cell.predict->failure));
    if (!cell.predict->failure_text.empty()) reason += ": " + cell.predict->failure_text;
    return reason;
  }
  if (!cell.scores.empty()) return "";
  if (cell.predict->status != store::Completeness::complete) {
    std::string reason =
        fmt::format("{} of {} predictions", cell.predict->done, cell.predict->expected);
    const std::string message = source.last_message(cell);
    return message.empty() ? reason : reason + ": " + message;
  }
  return "not scored; 'qfs-bench score' does it";
}

std::string lack_of_pair(const StoredCell& a, CellSource& source_a, const StoredCell& b,
                         CellSource& source_b) {
  const std::string of_a = lack_of(a, source_a);
  const std::string of_b = lack_of(b, source_b);
  if (of_a.empty() && of_b.empty()) {
    if (a.cell.dataset == b.cell.dataset) return "";
    return fmt::format("A is of data set {}, B of {}: only equal examples can be compared",
                       a.cell.dataset.short_hex(), b.cell.dataset.short_hex());
  }
  if (of_b.empty()) return "A: " + of_a;
  return of_a.empty() ? "B: " + of_b : fmt::format("A: {}; B: {}", of_a, of_b);
}

/// A metric that cannot be compared, so that none is passed over silently: scored on one side only,
/// scored in two ways, or declared by a sweep and scored on neither side (an external metric whose
/// program was not allowed to start).
struct UncomparedMetric {
  std::string metric;
  std::string reason;  ///< a sentence
  bool of_a = false;   ///< A has a score by it
};

using Jobs = std::span<const store::ScoreJobRow>;

std::set<std::string> signatures_of(Jobs jobs, const std::string& metric) {
  std::set<std::string> signatures;
  for (const store::ScoreJobRow& job : jobs) {
    if (job.metric == metric) signatures.insert(job.signature);
  }
  return signatures;
}

std::string listed(const std::set<std::string>& signatures) {
  return fmt::format("'{}'", fmt::join(signatures, "', '"));
}

/// In the order of `declared`, names of the metrics of both sweeps as scores have them, and then of
/// the scores.
std::vector<UncomparedMetric> uncompared_metrics(Jobs a, Jobs b,
                                                 std::span<const std::string> declared) {
  std::vector<std::string> names(declared.begin(), declared.end());
  for (Jobs jobs : {a, b}) {
    for (const store::ScoreJobRow& job : jobs) names.push_back(job.metric);
  }
  std::set<std::string> seen;
  std::vector<UncomparedMetric> uncompared;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) continue;
    const std::set<std::string> of_a = signatures_of(a, name);
    const std::set<std::string> of_b = signatures_of(b, name);
    const bool shared = std::ranges::any_of(of_a, [&](const auto& s) { return of_b.contains(s); });
    if (shared) continue;
    std::string reason = fmt::format("metric '{}' is not compared: ", name);
    if (of_a.empty() && of_b.empty()) {
      reason +=
          "neither A nor B has a score by it; 'qfs-bench score' adds them, with --allow-external "
          "where the metric is a program of the sweep";
    } else if (of_a.empty() || of_b.empty()) {
      reason += fmt::format("{} has a score by it, {} has none; 'qfs-bench score' adds it",
                            of_a.empty() ? "B" : "A", of_a.empty() ? "A" : "B");
    } else {
      reason += fmt::format("A has it as {}, B as {}", listed(of_a), listed(of_b));
    }
    uncompared.push_back({name, std::move(reason), !of_a.empty()});
  }
  return uncompared;
}

class Comparer {
 public:
  Comparer(const StoredSide& a, const StoredSide& b, const Request& request,
           const MetricCatalog& catalog, std::span<const std::string> declared)
      : a_(a), b_(b), request_(request), catalog_(catalog), declared_(declared) {
    Cells all = a.cells;
    all.insert(all.end(), b.cells.begin(), b.cells.end());
    shown_ = telling_dimensions(all);
    outcome_.skip_missing = request.skip_missing;
  }

  Result<Outcome> run() {
    if (Status known = check_asked(); !known) return known.error();
    const auto pairing = pair_sides(a_, b_, request_.pair_by);
    if (!pairing) return pairing.error();
    for (const auto& [first, second] : pairing->pairs) {
      if (Status compared = compare(*first, *second); !compared) return compared.error();
    }
    for (const StoredCell* cell : pairing->only_a) miss(*cell, "no such cell in B");
    for (const StoredCell* cell : pairing->only_b) {
      outcome_.only_b.push_back({cell_name(*cell, shown_), "no such cell in A"});
    }
    if (request_.pair_by.empty()) outcome_.advice = pairing_advice(*pairing);
    conclude(outcome_);
    return std::move(outcome_);
  }

 private:
  void miss(const StoredCell& cell, std::string reason) {
    outcome_.missing.push_back({cell_name(cell, shown_), std::move(reason)});
  }

  /// A column that no score has is a mistake of the command line; one that a pair lacks is not.
  Status check_asked() const {
    std::vector<std::string> known;
    for (const StoredSide* side : {&a_, &b_}) {
      for (const StoredCell* cell : side->cells) {
        for (const store::ScoreJobRow& job : cell->scores) {
          known.insert(known.end(), job.columns.begin(), job.columns.end());
        }
      }
    }
    return known.empty() ? Status() : check_columns(known, request_);
  }

  void note_metrics(const StoredCell& a, const StoredCell& b) {
    for (UncomparedMetric& metric : uncompared_metrics(a.scores, b.scores, declared_)) {
      const bool lost = metric.of_a && std::ranges::any_of(a.scores, [&](const auto& job) {
                          return job.metric == metric.metric && concerns(request_, job.columns);
                        });
      outcome_.lost_metric = outcome_.lost_metric || lost;
      if (std::ranges::count(outcome_.metrics, metric.reason) == 0) {
        outcome_.metrics.push_back(std::move(metric.reason));
      }
    }
  }

  Status compare(const StoredCell& a, const StoredCell& b) {
    std::string lack = lack_of_pair(a, *a_.source, b, *b_.source);
    if (lack.empty()) note_metrics(a, b);
    std::vector<const store::ScoreJobRow*> jobs;
    for (const store::ScoreJobRow& job : a.scores) {
      if (std::ranges::count(b.scores, job.signature, &store::ScoreJobRow::signature) > 0) {
        jobs.push_back(&job);
      }
    }
    if (lack.empty() && jobs.empty()) {
      lack = "no score of both by the same metric and signature; 'qfs-bench score' adds them";
    }
    if (!lack.empty()) {
      miss(a, std::move(lack));
      return {};
    }
    std::set<std::string> compared;
    for (const store::ScoreJobRow* job : jobs) {
      const auto twin = std::ranges::find(b.scores, job->signature, &store::ScoreJobRow::signature);
      if (Status done = compare(a, b, *job, *twin, compared); !done) return done;
    }
    std::set<std::string> asked(request_.columns.begin(), request_.columns.end());
    for (const auto& [column, margin] : request_.margins) asked.insert(column);
    for (const std::string& column : asked) {
      if (!compared.contains(column)) miss(a, "no score of both has the column '" + column + "'");
    }
    return {};
  }

  /// `job` of A and its `twin` of B are of one signature.
  Result<PairedStatistics> paired(const StoredCell& a, const StoredCell& b,
                                  const store::ScoreJobRow& job,
                                  const store::ScoreJobRow& twin) const {
    auto rows_a = a_.source->rows(a, job);
    if (!rows_a) return rows_a.error();
    auto rows_b = b_.source->rows(b, twin);
    if (!rows_b) return rows_b.error();
    PairedStatistics paired =
        paired_statistics({job, *std::move(rows_a)}, {twin, *std::move(rows_b)});
    if (!request_.noise_floor) return paired;
    auto noise_a = a_.source->noise(a, job);
    if (!noise_a) return noise_a.error();
    auto noise_b = b_.source->noise(b, twin);
    if (!noise_b) return noise_b.error();
    for (size_t c = 0; c < paired.columns.size(); ++c) {
      paired.noise.push_back(std::max((*noise_a)[c], (*noise_b)[c]));
    }
    return paired;
  }

  Status compare(const StoredCell& a, const StoredCell& b, const store::ScoreJobRow& job,
                 const store::ScoreJobRow& twin, std::set<std::string>& compared) {
    if (job.columns != twin.columns) {  // a file that somebody wrote by hand
      miss(a, "the score by '" + job.metric + "' has other columns in B");
      return {};
    }
    auto paired = this->paired(a, b, job, twin);
    if (!paired) return paired.error();
    if (paired->ordinals.empty()) {
      miss(a, "the two have no example in common");
      return {};
    }
    const Result<std::shared_ptr<const Metric>> metric = catalog_.make(job.metric);
    for (const std::string& column : job.columns) {
      paired->better.push_back(metric             ? (*metric)->better(column)
                               : is_share(column) ? Better::higher
                                                  : Better::unknown);
    }
    // Its values are made again only if this program's metric still makes them in the same way.
    const bool same = metric && score::scored_signature(**metric, job.postprocess) == job.signature;
    auto comparison = compare_metric(*paired, request_, same ? metric->get() : nullptr);
    if (!comparison) return comparison.error();
    if (comparison->columns.empty() && comparison->left_out.empty()) return {};
    for (const ComparedColumn& column : comparison->columns) compared.insert(column.name);
    compared.insert(comparison->left_out.begin(), comparison->left_out.end());
    comparison->cell = cell_name(a, shown_);
    comparison->a = fmt::format("{} ({})", comparison->cell, a_.name);
    comparison->b = fmt::format("{} ({})", cell_name(b, shown_), b_.name);
    for (const auto& [name, value] : a.dimensions) {
      const auto other = b.dimensions.find(name);
      if (name != "cell" && other != b.dimensions.end() && other->second != value) {
        comparison->differences.push_back({name, value, other->second});
      }
    }
    comparison->metric = job.metric;
    comparison->signature = job.signature;
    outcome_.comparisons.push_back(*std::move(comparison));
    return {};
  }

  const StoredSide& a_;
  const StoredSide& b_;
  const Request& request_;
  const MetricCatalog& catalog_;
  std::span<const std::string> declared_;
  std::set<std::string> shown_;
  Outcome outcome_;
};

}  // namespace

Result<Pairing> pair_sides(const StoredSide& a, const StoredSide& b,
                           const std::vector<std::string>& by) {
  if (!by.empty() || !a.named || !b.named) return pair_cells(a.cells, b.cells, by);
  const Cells of_a = shown_once(a.cells);
  const Cells of_b = shown_once(b.cells);
  if (of_a.size() == 1 && of_b.size() == 1) return Pairing{{{of_a.front(), of_b.front()}}, {}, {}};
  if (a.name == b.name) {
    Error error = several_cells(of_a.size() > 1 ? of_a : of_b);
    std::set<std::string> telling = telling_dimensions(a.cells);
    telling.merge(telling_dimensions(b.cells));
    telling.erase("cell");
    if (!telling.empty()) {
      error.message += fmt::format("\nor pair them by what they have in common: --pair-by {}",
                                   fmt::join(telling, ","));
    }
    return error;
  }
  return pair_cells(a.cells, b.cells, by);
}

Result<Outcome> compare_stores(const StoredSide& a, const StoredSide& b, const Request& request,
                               const MetricCatalog& catalog,
                               std::span<const std::string> declared) {
  return Comparer(a, b, request, catalog, declared).run();
}

}  // namespace qfs::compare
