#include "harness/compare/compare_stores.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "harness/api/metric_columns.h"
#include "harness/compare/uncompared.h"
#include "harness/score/score.h"

namespace qfs::compare {
namespace {

/// Why a cell has no score to compare; empty when it has one.
std::string lack_of(const StoredCell& cell, store::Reader& reader) {
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
    const auto attempts = reader.attempts(cell.predict->id);
    if (attempts && !attempts->empty() && !attempts->back().message.empty()) {
      reason += ": " + attempts->back().message;
    }
    return reason;
  }
  return "not scored; 'qfs-bench score' does it";
}

std::string lack_of_pair(const StoredCell& a, store::Reader& reader_a, const StoredCell& b,
                         store::Reader& reader_b) {
  const std::string of_a = lack_of(a, reader_a);
  const std::string of_b = lack_of(b, reader_b);
  if (of_a.empty() && of_b.empty()) {
    if (a.cell.dataset == b.cell.dataset) return "";
    return fmt::format("A is of data set {}, B of {}: only equal examples can be compared",
                       a.cell.dataset.short_hex(), b.cell.dataset.short_hex());
  }
  if (of_b.empty()) return "A: " + of_a;
  return of_a.empty() ? "B: " + of_b : fmt::format("A: {}; B: {}", of_a, of_b);
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
    const auto pairing = pairs();
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
  Result<Pairing> pairs() const {
    const bool one_store = a_.name == b_.name;
    if (request_.pair_by.empty() && a_.named && b_.named) {
      const Cells a = shown_once(a_.cells);
      const Cells b = shown_once(b_.cells);
      if (a.size() == 1 && b.size() == 1) return Pairing{{{a.front(), b.front()}}, {}, {}};
      if (one_store) {
        Error error = several_cells(a.size() > 1 ? a : b);
        error.message += "\nor pair them by what they have in common: --pair-by local_context";
        return error;
      }
    }
    return pair_cells(a_.cells, b_.cells, request_.pair_by);
  }

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
    std::string lack = lack_of_pair(a, *a_.reader, b, *b_.reader);
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
      if (Status done = compare(a, b, *job, compared); !done) return done;
    }
    std::set<std::string> asked(request_.columns.begin(), request_.columns.end());
    for (const auto& [column, margin] : request_.margins) asked.insert(column);
    for (const std::string& column : asked) {
      if (!compared.contains(column)) miss(a, "no score of both has the column '" + column + "'");
    }
    return {};
  }

  Status compare(const StoredCell& a, const StoredCell& b, const store::ScoreJobRow& job,
                 std::set<std::string>& compared) {
    auto paired =
        paired_statistics({a_.reader, a.predict->id}, {b_.reader, b.predict->id}, job.signature);
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
    comparison->a = fmt::format("{} ({})", cell_name(a, shown_), a_.name);
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

Result<Outcome> compare_stores(const StoredSide& a, const StoredSide& b, const Request& request,
                               const MetricCatalog& catalog,
                               std::span<const std::string> declared) {
  return Comparer(a, b, request, catalog, declared).run();
}

}  // namespace qfs::compare
