#include "metrics/rouge155/evaluation.h"

#include <algorithm>
#include <map>

#include "harness/core/files.h"
#include "harness/core/suggest.h"
#include "metrics/rouge155/report.h"
#include "metrics/rouge155/scorer.h"

namespace qfs::metrics::rouge155 {
namespace {

constexpr uint64_t kMaxSummaryBytes = uint64_t{64} << 20;

/// Counts of all variants, by "evaluation.system".
using Instances = std::map<std::string, std::vector<Counts>>;

Result<Summary> read_summary(Scorer& scorer, const std::string& path, InputFormat format) {
  Result<std::string> text = read_file(path, kMaxSummaryBytes);
  if (!text) return text.error();
  return scorer.encode(read_sentences(*text, format));
}

Result<std::vector<Counts>> score_one(Scorer& scorer, const Evaluation& evaluation,
                                      const std::string& candidate_path) {
  Result<Summary> candidate = read_summary(scorer, candidate_path, evaluation.format);
  if (!candidate) return candidate.error();
  std::vector<Summary> references;
  for (const std::string& path : evaluation.references) {
    Result<Summary> reference = read_summary(scorer, path, evaluation.format);
    if (!reference) return reference.error();
    references.push_back(*std::move(reference));
  }
  Result<std::vector<Counts>> counts = scorer.counts(*candidate, references);
  if (counts) return counts;
  Error error = counts.error();
  error.where = "evaluation '" + evaluation.id + "'";
  return error;
}

/// One system's blocks of lines.
class SystemReport {
 public:
  SystemReport(std::string_view system, const Scorer& scorer, const Instances& instances,
               const EvaluationOptions& options)
      : system_(system), scorer_(scorer), instances_(instances), options_(options) {}

  std::string lines() const {
    const std::vector<Estimate> estimates = estimate();
    std::string lines;
    for (size_t v = 0; v < scorer_.variants().size(); ++v) {
      const ReportBlock block{system_, scorer_.variants()[v].label, options_.confidence_text};
      lines += options_.averaging == Averaging::counts
                   ? format_counts(block, summed(v))
                   : format_estimates(block, std::span(estimates).subspan(3 * v, 3));
      if (options_.per_instance) lines += format_instances(block, scores(v));
    }
    return lines;
  }

 private:
  Triple triple(size_t variant, const std::vector<Counts>& counts) const {
    return scorer_.triple(scorer_.variants()[variant], counts[variant]);
  }

  std::vector<Estimate> estimate() const {
    if (options_.averaging == Averaging::counts) return {};
    const bool pooled = options_.averaging == Averaging::pooled;
    const size_t columns = 3 * scorer_.variants().size();
    std::vector<double> values;
    for (const auto& [id, counts] : instances_) {
      for (size_t v = 0; v < counts.size(); ++v) {
        const Triple three = pooled
                                 ? Triple{counts[v].reference, counts[v].candidate, counts[v].hits}
                                 : triple(v, counts);
        values.insert(values.end(), {three.recall, three.precision, three.f});
      }
    }
    if (columns == 0) return {};
    return pooled ? resample_pooled(values, columns, options_.scoring.alpha, options_.resampling)
                  : resample_means(values, columns, options_.resampling);
  }

  Counts summed(size_t variant) const {
    Counts sums;
    for (const auto& [id, counts] : instances_) {
      sums.reference += counts[variant].reference;
      sums.candidate += counts[variant].candidate;
      sums.hits += counts[variant].hits;
    }
    return sums;
  }

  std::vector<InstanceScore> scores(size_t variant) const {
    std::vector<InstanceScore> scores;
    for (const auto& [id, counts] : instances_) scores.push_back({id, triple(variant, counts)});
    return scores;
  }

  std::string_view system_;
  const Scorer& scorer_;
  const Instances& instances_;
  const EvaluationOptions& options_;
};

}  // namespace

Result<EvaluationReport> evaluate(const Configuration& configuration,
                                  const std::vector<std::string>& systems,
                                  const EvaluationOptions& options,
                                  std::shared_ptr<const Lexicon> lexicon) {
  if (Status status = check(options.scoring); !status) return status.error();
  if (Status status = check(options.resampling); !status) return status.error();
  Scorer scorer(options.scoring, std::move(lexicon));
  EvaluationReport report;
  for (const std::string& system : systems) {
    Instances instances;
    for (const Evaluation& evaluation : configuration.evaluations) {
      const std::string* path = evaluation.candidate_of(system);
      if (path == nullptr) {
        report.warnings.push_back("evaluation '" + evaluation.id + "' has nothing of system '" +
                                  system + "'; it is left out");
        continue;
      }
      Result<std::vector<Counts>> counts = score_one(scorer, evaluation, *path);
      if (!counts) return counts.error();
      const std::string key = evaluation.id + "." + system;
      if (!instances.emplace(key, *std::move(counts)).second) {
        return data_error("two evaluations are called '" + evaluation.id +
                              "' (one of --jackknife has its number behind its id)",
                          evaluation.where);
      }
    }
    if (instances.empty()) {
      return not_found("no evaluation has a file of system '" + system + "'" +
                       suggestion(system, configuration.systems));
    }
    report.lines += SystemReport(system, scorer, instances, options).lines();
  }
  return report;
}

}  // namespace qfs::metrics::rouge155
