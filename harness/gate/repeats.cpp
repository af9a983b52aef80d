#include "harness/gate/repeats.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

namespace qfs::gate {
namespace {

using compare::Cells;
using compare::StoredCell;
using store::ScoreJobRow;

bool is_done(const StoredCell& cell) {
  return cell.predict && cell.predict->status == store::Completeness::complete &&
         !cell.scores.empty();
}

/// The score of each run by this signature; std::nullopt where one has none.
std::optional<std::vector<const ScoreJobRow*>> jobs_of(const Cells& runs,
                                                       const std::string& signature) {
  std::vector<const ScoreJobRow*> jobs;
  for (const StoredCell* run : runs) {
    const auto job = std::ranges::find(run->scores, signature, &ScoreJobRow::signature);
    if (job == run->scores.end()) return std::nullopt;
    jobs.push_back(&*job);
  }
  return jobs;
}

/// The first run's score with the mean of all runs' values.
ScoreJobRow mean_job(const std::vector<const ScoreJobRow*>& jobs) {
  ScoreJobRow mean = *jobs.front();
  for (store::ScoreRow& score : mean.scores) {
    score.value = 0;
    score.interval.reset();
    for (const ScoreJobRow* job : jobs) {
      const auto own = std::ranges::find(job->scores, score.name, &store::ScoreRow::name);
      if (own != job->scores.end()) score.value += own->value / static_cast<double>(jobs.size());
    }
  }
  return mean;
}

/// The repetitions of all runs: the median of the runs' medians, between the smallest and the
/// largest of all. More runs widen the range, so that less is called worse by chance.
compare::Repeated together(const std::vector<compare::Repeated>& runs) {
  compare::Repeated all = runs.front();
  all.repetitions = 0;
  std::vector<double> medians;
  for (const compare::Repeated& run : runs) {
    medians.push_back(run.median);
    all.low = std::min(all.low, run.low);
    all.high = std::max(all.high, run.high);
    all.repetitions += run.repetitions;
  }
  std::ranges::sort(medians);
  const size_t middle = medians.size() / 2;
  all.median =
      medians.size() % 2 == 1 ? medians[middle] : (medians[middle - 1] + medians[middle]) / 2;
  return all;
}

/// What all runs have; what one of them lacks was not measured.
compare::Measured together(const std::vector<compare::Measured>& runs) {
  compare::Measured all{.values = {}, .machine = runs.front().machine};
  for (const auto& [name, first] : runs.front().values) {
    std::vector<compare::Repeated> values;
    for (const compare::Measured& run : runs) {
      const auto own = run.values.find(name);
      if (own != run.values.end()) values.push_back(own->second);
    }
    if (values.size() == runs.size()) all.values.emplace(name, together(values));
  }
  all.several_machines =
      std::ranges::any_of(runs, [&](const auto& run) { return run.machine != all.machine; });
  return all;
}

}  // namespace

std::vector<Cells> groups_of_repeats(const Cells& cells) {
  std::vector<Cells> groups;
  std::map<compare::Dimensions, size_t> places;
  for (const StoredCell* cell : cells) {
    compare::Dimensions key = cell->dimensions;
    key.erase("seed");
    key.erase("cell");
    key["dataset id"] = cell->cell.dataset.hex();
    const auto [place, added] = places.try_emplace(std::move(key), groups.size());
    if (added) groups.emplace_back();
    groups[place->second].push_back(cell);
  }
  return groups;
}

RepeatedCells::RepeatedCells(const compare::StoredSide& side, int64_t repeats) : side_(side) {
  for (const Cells& group : groups_of_repeats(side.cells)) {
    Cells runs;
    for (const StoredCell* cell : group) {
      if (is_done(*cell) && std::ssize(runs) < repeats) runs.push_back(cell);
    }
    if (std::ssize(runs) < repeats) {
      short_.emplace_back(group.front(), runs.size());
      continue;
    }
    StoredCell& mean = *cells_.emplace_back(std::make_unique<StoredCell>(*runs.front()));
    mean.dimensions.erase("seed");
    mean.another_seed = false;
    mean.scores.clear();
    for (const ScoreJobRow& job : runs.front()->scores) {
      if (const auto jobs = jobs_of(runs, job.signature)) mean.scores.push_back(mean_job(*jobs));
    }
    runs_.emplace(&mean, std::move(runs));
  }
}

compare::StoredSide RepeatedCells::side() {
  Cells cells;
  for (const auto& cell : cells_) cells.push_back(cell.get());
  return {side_.name, this, std::move(cells), side_.named};
}

const Cells& RepeatedCells::runs_of(const StoredCell& cell) const { return runs_.at(&cell); }

Result<std::vector<compare::ScoredRow>> RepeatedCells::rows(const StoredCell& cell,
                                                            const ScoreJobRow& job) {
  std::map<int64_t, std::pair<compare::ScoredRow, size_t>> sums;
  const Cells& runs = runs_of(cell);
  const auto jobs = jobs_of(runs, job.signature);
  for (size_t r = 0; r < runs.size(); ++r) {
    auto rows = side_.source->rows(*runs[r], *(*jobs)[r]);
    if (!rows) return rows.error();
    for (compare::ScoredRow& row : *rows) {
      const auto [place, added] = sums.try_emplace(row.ordinal, row, 0);
      auto& [sum, count] = place->second;
      ++count;
      if (added) continue;
      sum.empty = sum.empty && row.empty;
      for (size_t c = 0; c < row.values.size(); ++c) sum.values[c] += row.values[c];
    }
  }
  std::vector<compare::ScoredRow> means;
  for (auto& [ordinal, entry] : sums) {
    auto& [sum, count] = entry;
    if (count < runs.size()) continue;  // a run lacks the example, which is then not compared
    for (double& value : sum.values) value /= static_cast<double>(count);
    means.push_back(std::move(sum));
  }
  return means;
}

Result<std::vector<double>> RepeatedCells::noise(const StoredCell& cell, const ScoreJobRow& job) {
  std::vector<double> largest(job.columns.size(), 0);
  const Cells& runs = runs_of(cell);
  const auto jobs = jobs_of(runs, job.signature);
  for (size_t r = 0; r < runs.size(); ++r) {
    const auto noise = side_.source->noise(*runs[r], *(*jobs)[r]);
    if (!noise) return noise.error();
    for (size_t c = 0; c < largest.size(); ++c) largest[c] = std::max(largest[c], (*noise)[c]);
  }
  return largest;
}

Result<compare::Measured> RepeatedCells::measured(const StoredCell& cell) {
  std::vector<compare::Measured> runs;
  std::set<CellId> read;  // a run that is shown for several seeds was timed once
  for (const StoredCell* run : runs_of(cell)) {
    if (!read.insert(run->cell.id).second) continue;
    auto own = side_.source->measured(*run);
    if (!own) return own.error();
    runs.push_back(*std::move(own));
  }
  return together(runs);
}

Result<compare::MadeAt> RepeatedCells::made(const StoredCell& cell) {
  compare::MadeAt all;
  for (const StoredCell* run : runs_of(cell)) {
    const auto own = side_.source->made(*run);
    if (!own) return own.error();
    if (own->first.empty()) return compare::MadeAt();  // nothing says when this one was made
    if (all.first.empty() || own->first < all.first) all.first = own->first;
    all.last = std::max(all.last, own->last);
  }
  return all;
}

std::string RepeatedCells::last_message(const StoredCell& cell) {
  return side_.source->last_message(*runs_of(cell).front());
}

}  // namespace qfs::gate
