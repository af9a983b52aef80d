// Integrity of a store: SQLite's own check, recomputed ids and digests, contradictions, and, where
// asked for, scores computed again.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "harness/cli/catalogs.h"
#include "harness/cli/doctor_checks.h"
#include "harness/cli/scoring.h"
#include "harness/cli/store_path.h"
#include "harness/core/counted.h"
#include "harness/core/json_dom.h"
#include "harness/score/bootstrap_intervals.h"
#include "harness/score/recount.h"

namespace qfs::cli {
namespace {

constexpr size_t kMostListed = 10;

std::string subject_of(const store::ConflictRow& conflict) {
  return fmt::format("example {}", conflict.ordinal);
}

std::string subject_of(const store::ArtifactConflictRow& conflict) {
  return fmt::format("artifact '{}'", conflict.role);
}

/// `things`: what contradicts itself, in the plural.
template <class Conflict>
void add_conflicts(store::Reader& reader, const Result<std::vector<Conflict>>& conflicts,
                   std::string_view things, std::vector<Finding>& findings) {
  if (!conflicts) {
    findings.push_back({Grade::problem, "store", conflicts.error().to_string()});
    return;
  }
  for (size_t i = 0; i < conflicts->size() && i < kMostListed; ++i) {
    const Conflict& conflict = (*conflicts)[i];
    Result<store::ResultRow> result = reader.result(conflict.result);
    const std::string cell = result ? result->key.cell.short_hex() : "unknown";
    findings.push_back(
        {Grade::note, "store",
         fmt::format("not deterministic: cell {}, {}: {} {}… and {}…", cell, subject_of(conflict),
                     things, conflict.first_sha256.substr(0, 12),
                     conflict.second_sha256.substr(0, 12))});
  }
  if (conflicts->size() > kMostListed) {
    findings.push_back(
        {Grade::note, "store",
         fmt::format("{} more contradicting {}", conflicts->size() - kMostListed, things)});
  }
}

std::string difference_text(const store::ScoreJobRow& job, const CellId& cell,
                            const std::vector<score::Difference>& differences) {
  const score::Difference& first = differences.front();
  return fmt::format("score {} ({} of cell {}): {} is stored as {}, and the outputs give {}; {}",
                     job.id.short_hex(), job.metric, cell.short_hex(), first.what,
                     shortest_decimal(first.stored), shortest_decimal(first.counted),
                     counted(differences.size(), "number differs", "numbers differ"));
}

/// Every score of the store, computed again.
class Rescoring {
 public:
  explicit Rescoring(store::Reader& reader)
      : reader_(reader), recounter_(reader, catalogs_.metrics()) {}

  Status run() {
    const auto datasets = reader_.datasets();
    if (!datasets) return datasets.error();
    for (const store::DatasetRow& row : *datasets) {
      const auto dataset = unstored_dataset(row, catalogs_.datasets());
      if (!dataset || *dataset == nullptr) continue;  // a score that needs it says what is missing
      if (Status used = recounter_.use_dataset(*dataset); !used) return used;
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
      findings.push_back(
          {Grade::note, "store",
           fmt::format("{} not computed again: {}",
                       counted(count, "score is", "scores are"), why)});
    }
    findings.push_back(
        {different_.empty() ? Grade::ok : Grade::note, "store",
         fmt::format("{} computed again from their outputs: {} as stored", 
                     counted(equal_ + different_.size(), "score"), equal_)});
    return findings;
  }

 private:
  void look_at(const store::ScoreJobRow& job, const CellId& cell) {
    const auto differences = recounter_.differences(job, intervals_);
    if (!differences) {
      ++not_counted_[fmt::format("{}: {}", job.metric, differences.error().message)];
    } else if (differences->empty()) {
      ++equal_;
    } else {
      different_.push_back(difference_text(job, cell, *differences));
    }
  }

  store::Reader& reader_;
  Catalogs catalogs_;
  score::Recounter recounter_;
  score::BootstrapIntervals intervals_;
  size_t equal_ = 0;
  std::vector<std::string> different_;
  std::map<std::string, size_t> not_counted_;  ///< by the reason
};

}  // namespace

std::vector<Finding> check_store(const GlobalOptions& global, bool rescore) {
  Result<std::string> path = existing_store_path(global.store);
  if (!path) {
    const Grade grade = global.store.empty() ? Grade::note : Grade::problem;
    return {{grade, "store", path.error().message}};
  }
  Result<store::Reader> reader = store::Reader::open(*path, {.foreign = global.foreign});
  if (!reader) return {{Grade::problem, "store", reader.error().to_string()}};
  std::vector<Finding> findings;
  Result<std::vector<std::string>> problems = reader->check_integrity();
  if (!problems) return {{Grade::problem, "store", problems.error().to_string()}};
  for (const std::string& problem : *problems) {
    findings.push_back({Grade::problem, "store", problem});
  }
  if (problems->empty()) {
    findings.push_back({Grade::ok, "store", *path + ": sound; ids and digests as recomputed"});
  }
  add_conflicts(*reader, reader->conflicts(), "outputs", findings);
  add_conflicts(*reader, reader->artifact_conflicts(), "files", findings);
  if (!rescore) return findings;
  Rescoring rescoring(*reader);
  if (Status ran = rescoring.run(); !ran) {
    findings.push_back({Grade::problem, "store", ran.error().to_string()});
    return findings;
  }
  std::ranges::move(rescoring.findings(), std::back_inserter(findings));
  return findings;
}

}  // namespace qfs::cli
