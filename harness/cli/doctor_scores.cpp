// Scores of a store computed again from its outputs.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/cli/catalogs.h"
#include "harness/cli/doctor_checks.h"
#include "harness/cli/scoring.h"
#include "harness/core/counted.h"
#include "harness/score/recount.h"

namespace qfs::cli {
namespace {

std::string difference_text(const store::ScoreJobRow& job, const CellId& cell,
                            const std::vector<score::Difference>& differences) {
  const score::Difference& first = differences.front();
  return fmt::format("score {} ({} of cell {}): {} is stored as {}, and the outputs give {}; {}",
                     job.id.short_hex(), job.metric, cell.short_hex(), first.what, first.stored,
                     first.counted, counted(differences.size(), "difference"));
}

/// Every score of the store, computed again.
class Rescoring {
 public:
  explicit Rescoring(store::Reader& reader)
      : reader_(reader), recounter_(reader, catalogs_.metrics()) {}

  Status run(std::span<const std::shared_ptr<const Dataset>> data) {
    const auto datasets = reader_.datasets();
    if (!datasets) return datasets.error();
    for (const store::DatasetRow& row : *datasets) {
      const auto dataset = texts_of(row, data);
      if (!dataset || *dataset == nullptr) continue;  // a score that needs it says what is missing
      if (Status used = recounter_.use_dataset(*dataset); !used) return used;
    }
    for (const auto& dataset : data) {
      if (std::ranges::count(*datasets, dataset->id, &store::DatasetRow::id) > 0) continue;
      unused_.push_back(fmt::format("{} of the sweep file ({}) is no data set of this store",
                                    dataset->manifest.name, dataset->id.short_hex()));
    }
    const auto cells = reader_.cells();
    if (!cells) return cells.error();
    for (const store::CellRow& cell : *cells) {
      const auto results = reader_.results(cell.id);
      if (!results) return results.error();
      for (const store::ResultRow& result : *results) {
        if (result.key.kind != store::ResultKind::predict) continue;
        const auto jobs = reader_.scores(result.id);
        if (!jobs) return jobs.error();
        for (const store::ScoreJobRow& job : *jobs) look_at(job, cell.id);
      }
    }
    return {};
  }

  std::vector<Finding> findings() const {
    std::vector<Finding> findings;
    for (size_t i = 0; i < different_.size() && i < kMostListed; ++i) {
      findings.push_back({Grade::problem, "store", different_[i]});
    }
    if (different_.size() > kMostListed) {
      findings.push_back({Grade::problem, "store",
                          fmt::format("{} more scores that their outputs do not give",
                                      different_.size() - kMostListed)});
    }
    for (const auto& [why, count] : not_counted_) {
      findings.push_back({Grade::unchecked, "store",
                          fmt::format("{} not computed again: {}",
                                      counted(count, "score is", "scores are"), why)});
    }
    for (const std::string& text : unused_) findings.push_back({Grade::note, "store", text});
    findings.push_back({equal_ > 0 && different_.empty() ? Grade::ok : Grade::note, "store",
                        fmt::format("{} computed again from their outputs: {} as stored",
                                    counted(equal_ + different_.size(), "score"), equal_)});
    return findings;
  }

 private:
  Result<std::shared_ptr<const Dataset>> texts_of(
      const store::DatasetRow& row, std::span<const std::shared_ptr<const Dataset>> data) {
    const auto given =
        std::ranges::find_if(data, [&](const auto& dataset) { return dataset->id == row.id; });
    return given == data.end() ? unstored_dataset(row, catalogs_.datasets()) : *given;
  }

  void look_at(const store::ScoreJobRow& job, const CellId& cell) {
    const auto recount = recounter_.recount(job);
    if (!recount || !recount->unchecked.empty()) {
      ++not_counted_[fmt::format("{}: {}", job.metric,
                                 recount ? recount->unchecked : recount.error().message)];
    }
    if (!recount) return;
    if (!recount->differences.empty()) {
      different_.push_back(difference_text(job, cell, recount->differences));
    } else if (recount->unchecked.empty()) {
      ++equal_;
    }
  }

  store::Reader& reader_;
  Catalogs catalogs_;
  score::Recounter recounter_;
  size_t equal_ = 0;
  std::vector<std::string> different_;
  std::vector<std::string> unused_;            ///< data sets that were given for nothing
  std::map<std::string, size_t> not_counted_;  ///< by the reason
};

}  // namespace

std::vector<Finding> check_scores(store::Reader& reader,
                                  std::span<const std::shared_ptr<const Dataset>> data) {
  Rescoring rescoring(reader);
  if (Status ran = rescoring.run(data); !ran) {
    return {{Grade::problem, "store", ran.error().to_string()}};
  }
  return rescoring.findings();
}

}  // namespace qfs::cli
