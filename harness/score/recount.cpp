#include "harness/score/recount.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "harness/core/postprocess.h"
#include "harness/score/computation.h"
#include "harness/score/imported_metric.h"
#include "harness/score/score_job.h"

namespace qfs::score {
namespace {

constexpr double kExact = 1e-9;
constexpr double kEncoded = 1e-4;

/// The items of the examples that were scored: there may be more outputs now.
void keep_scored(Subject& subject, const std::vector<store::StatisticRow>& rows) {
  std::set<int64_t> scored;
  for (const store::StatisticRow& row : rows) scored.insert(row.ordinal);
  size_t kept = 0;
  for (size_t i = 0; i < subject.items.size(); ++i) {
    if (!scored.contains(subject.items[i].id)) continue;
    if (kept != i) {
      subject.items[kept] = std::move(subject.items[i]);
      subject.processed[kept] = subject.processed[i];
    }
    ++kept;
  }
  subject.items.resize(kept);
  subject.processed.resize(kept);
}

/// Collects pairs of numbers that are not equal.
class Comparer {
 public:
  explicit Comparer(double tolerance) : tolerance_(tolerance) {}

  void look_at(const std::string& what, double stored, double counted) {
    if (std::abs(stored - counted) <= tolerance_ * std::max(1.0, std::abs(counted))) return;
    differences_.push_back({what, stored, counted});
  }

  void values(const store::ScoreJobRow& stored, const store::ScoreJob& counted) {
    for (const store::ScoreRow& own : counted.scores) {
      const auto found = std::ranges::find(stored.scores, own.name, &store::ScoreRow::name);
      look_at(own.name, found == stored.scores.end() ? std::nan("") : found->value, own.value);
    }
    if (counted.interval_method.empty()) return;
    for (const store::ScoreRow& own : counted.scores) {
      const auto found = std::ranges::find(stored.scores, own.name, &store::ScoreRow::name);
      if (found == stored.scores.end() || (!found->interval && !own.interval)) continue;
      const double none = std::nan("");
      look_at("the lower end of " + own.name, found->interval ? found->interval->low : none,
              own.interval ? own.interval->low : none);
      look_at("the upper end of " + own.name, found->interval ? found->interval->high : none,
              own.interval ? own.interval->high : none);
    }
  }

  void examples(const std::vector<store::StatisticRow>& stored, const store::ScoreJob& counted) {
    auto own = counted.statistics.begin();
    for (const store::StatisticRow& row : stored) {
      while (own != counted.statistics.end() && own->ordinal < row.ordinal) ++own;
      const bool found = own != counted.statistics.end() && own->ordinal == row.ordinal;
      for (size_t c = 0; c < counted.columns.size(); ++c) {
        look_at(counted.columns[c] + " of example " + std::to_string(row.ordinal),
                c < row.values.size() ? row.values[c] : std::nan(""),
                found ? own->values[c] : std::nan(""));
      }
    }
  }

  std::vector<Difference> take() { return std::move(differences_); }

 private:
  double tolerance_;
  std::vector<Difference> differences_;
};

}  // namespace

Result<std::shared_ptr<const Metric>> Recounter::metric_of(const store::ScoreJobRow& job) {
  const auto known = metrics_.find(job.signature);
  if (known != metrics_.end()) return known->second;
  const auto make = [&]() -> Result<std::shared_ptr<const Metric>> {
    if (job.metric.starts_with(kImportPrefix)) {
      return unavailable("these are scores of another program");
    }
    const Result<SignatureFields> fields = read_signature(job.signature, catalog_);
    if (!fields) return unavailable(fields.error().message);
    const Result<Computation> computation = computation_of(*fields, catalog_);
    if (!computation) return unavailable(computation.error().message);
    Result<std::shared_ptr<const Metric>> metric = catalog_.make(computation->name());
    if (!metric) return unavailable(metric.error().message);
    if (scored_signature(**metric, job.postprocess) != job.signature) {
      return unavailable("no metric of this program has this signature");
    }
    return metric;
  };
  return metrics_.emplace(job.signature, make()).first->second;
}

Result<std::vector<Difference>> Recounter::differences(const store::ScoreJobRow& job,
                                                       const IntervalEstimator& intervals) {
  const auto metric = metric_of(job);
  if (!metric) return metric.error();
  const Result<Postprocess> postprocess = Postprocess::of_chain(job.postprocess);
  if (!postprocess) return postprocess.error();
  Result<Subject> subject = subject_of(reader_, job.result);
  if (!subject) return subject.error();
  subject->postprocess = job.postprocess;
  const auto rows = reader_.statistics(job.id);
  if (!rows) return rows.error();
  Status read = read_items(reader_, source_, **metric, &*postprocess, *subject);
  if (!read) return read.error();
  keep_scored(*subject, *rows);
  const bool same_method = job.interval_method == intervals.method();
  const Result<store::ScoreJob> counted =
      measured_job(job.id, *subject, **metric, same_method ? &intervals : nullptr);
  if (!counted) return counted.error();
  Comparer comparer((*metric)->needs().encoder ? kEncoded : kExact);
  comparer.values(job, *counted);
  comparer.examples(*rows, *counted);
  return comparer.take();
}

}  // namespace qfs::score
