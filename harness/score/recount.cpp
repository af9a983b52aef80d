#include "harness/score/recount.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "harness/core/json_dom.h"
#include "harness/core/postprocess.h"
#include "harness/score/bootstrap_intervals.h"
#include "harness/score/computation.h"
#include "harness/score/imported_metric.h"
#include "harness/score/score.h"
#include "harness/score/score_job.h"

namespace qfs::score {
namespace {

constexpr double kExact = 1e-9;
constexpr double kEncoded = 1e-4;
constexpr int64_t kMostResamples = 1000000;  ///< as --resamples takes

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

/// Collects what is not equal.
class Comparer {
 public:
  explicit Comparer(double tolerance) : tolerance_(tolerance) {}

  void look_at(const std::string& what, double stored, double counted) {
    if (std::abs(stored - counted) <= tolerance_ * std::max(1.0, std::abs(counted))) return;
    const auto shown = [](double value) {
      return std::isnan(value) ? std::string("none") : shortest_decimal(value);
    };
    differences_.push_back({what, shown(stored), shown(counted)});
  }

  template <class Value>
  void look_at_exactly(const std::string& what, const Value& stored, const Value& counted) {
    if (stored != counted) differences_.push_back({what, text(stored), text(counted)});
  }

  /// Intervals, too, unless they were made by a method that this program does not have.
  void values(const store::ScoreJobRow& stored, const store::ScoreJob& counted) {
    const double none = std::nan("");
    const bool intervals = stored.interval_method == counted.interval_method;
    for (const store::ScoreRow& own : counted.scores) {
      const auto found = std::ranges::find(stored.scores, own.name, &store::ScoreRow::name);
      const bool there = found != stored.scores.end();
      look_at(own.name, there ? found->value : none, own.value);
      if (!intervals || !there || (!found->interval && !own.interval)) continue;
      look_at("the lower end of " + own.name, found->interval ? found->interval->low : none,
              own.interval ? own.interval->low : none);
      look_at("the upper end of " + own.name, found->interval ? found->interval->high : none,
              own.interval ? own.interval->high : none);
    }
    look_at_exactly("the list of columns", stored.columns, counted.columns);
    look_at_exactly("the number of values", stored.scores.size(), counted.scores.size());
    if (!intervals) return;
    look_at_exactly("the number of clusters", stored.clusters, counted.clusters);
  }

  void examples(const std::vector<store::StatisticRow>& stored, const store::ScoreJob& counted) {
    auto own = counted.statistics.begin();
    for (const store::StatisticRow& row : stored) {
      while (own != counted.statistics.end() && own->ordinal < row.ordinal) ++own;
      const bool found = own != counted.statistics.end() && own->ordinal == row.ordinal;
      const std::string of = " of example " + std::to_string(row.ordinal);
      for (size_t c = 0; c < counted.columns.size(); ++c) {
        look_at(counted.columns[c] + of, c < row.values.size() ? row.values[c] : std::nan(""),
                found ? own->values[c] : std::nan(""));
      }
      if (found)
        look_at_exactly("the scored text" + of, row.processed_sha256, own->processed_sha256);
    }
  }

  std::vector<Difference> take() { return std::move(differences_); }

 private:
  static std::string text(const std::string& value) { return value.empty() ? "the output" : value; }
  static std::string text(const std::vector<std::string>& values) {
    return fmt::format("{}", fmt::join(values, ","));
  }
  template <class Number>
  static std::string text(Number number) {
    return std::to_string(number);
  }

  double tolerance_;
  std::vector<Difference> differences_;
};

/// Imported scores, which are means of their examples.
std::vector<Difference> against_means(const store::ScoreJobRow& job,
                                      const std::vector<store::StatisticRow>& rows) {
  store::ScoreJob counted;
  counted.columns = job.columns;
  for (size_t c = 0; c < job.columns.size(); ++c) {
    double sum = 0;
    for (const store::StatisticRow& row : rows) {
      sum += c < row.values.size() ? row.values[c] : std::nan("");
    }
    counted.scores.push_back({job.columns[c], sum / static_cast<double>(rows.size()), {}});
  }
  Comparer comparer(kExact);
  comparer.values(job, counted);
  return comparer.take();
}

/// The bootstrap that an interval's method names, by its number of resamples.
std::optional<BootstrapIntervals> bootstrap_of(const std::string& method) {
  constexpr std::string_view kResamples = "|n:";
  const size_t at = method.find(kResamples);
  if (at == method.npos) return std::nullopt;
  const char* const first = method.data() + at + kResamples.size();
  int64_t resamples = 0;
  const auto [end, error] = std::from_chars(first, method.data() + method.size(), resamples);
  if (error != std::errc() || resamples < 1 || resamples > kMostResamples) return std::nullopt;
  BootstrapIntervals bootstrap(resamples);
  if (bootstrap.method() != method) return std::nullopt;
  return bootstrap;
}

}  // namespace

Result<std::shared_ptr<const Metric>> Recounter::metric_of(const store::ScoreJobRow& job) {
  const std::pair key(job.signature, job.postprocess.text);
  const auto known = metrics_.find(key);
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
  return metrics_.emplace(key, make()).first->second;
}

Result<Recount> Recounter::recount(const store::ScoreJobRow& job) {
  const auto rows = reader_.statistics(job.id);
  if (!rows) return rows.error();
  Recount recount;
  const auto metric = metric_of(job);
  if (!metric) {
    recount.unchecked = metric.error().message;
    if (job.metric.starts_with(kImportPrefix)) recount.differences = against_means(job, *rows);
    return recount;
  }
  const Result<Postprocess> postprocess = Postprocess::of_chain(job.postprocess);
  if (!postprocess) return postprocess.error();
  Result<Subject> subject = subject_of(reader_, job.result);
  if (!subject) return subject.error();
  subject->postprocess = job.postprocess;
  Status read = read_items(reader_, source_, **metric, &*postprocess, *subject);
  if (!read) return read.error();
  keep_scored(*subject, *rows);
  const auto bootstrap = bootstrap_of(job.interval_method);
  if (!bootstrap && !job.interval_method.empty()) {
    recount.unchecked =
        "intervals by '" + job.interval_method + "', which this program does not have";
  }
  const Result<store::ScoreJob> counted =
      measured_job(job.id, *subject, **metric, bootstrap ? &*bootstrap : nullptr);
  if (!counted) return counted.error();
  Comparer comparer((*metric)->needs().encoder ? kEncoded : kExact);
  comparer.values(job, *counted);
  comparer.examples(*rows, *counted);
  recount.differences = comparer.take();
  return recount;
}

}  // namespace qfs::score
