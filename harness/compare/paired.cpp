#include "harness/compare/paired.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace qfs::compare {
namespace {

/// Clears the marks of columns whose stored corpus value is not the mean of the rows.
void mark_means(const ScoredResult& result, std::vector<bool>& is_mean) {
  constexpr double kTolerance = 1e-9;
  for (size_t c = 0; c < result.job.columns.size(); ++c) {
    double sum = 0;
    for (const ScoredRow& row : result.rows) sum += row.values[c];
    const double mean = sum / static_cast<double>(result.rows.size());
    for (const store::ScoreRow& score : result.job.scores) {
      if (score.name == result.job.columns[c] && !(std::abs(score.value - mean) <= kTolerance)) {
        is_mean[c] = false;
      }
    }
  }
}

void leave_out(ScoredRow& row, std::vector<std::string>& names,
               std::vector<std::string>& clusters) {
  names.push_back(std::move(row.key));
  clusters.push_back(std::move(row.cluster));
}

/// The rows of a group become means over it, in its first result; `is_mean` as mark_means.
Status average(std::vector<ScoredResult>& group, std::vector<bool>& is_mean) {
  if (group.empty()) return invalid_argument("there is no result to pair");
  std::vector<ScoredRow>& rows = group.front().rows;
  for (const ScoredResult& result : group) {
    if (result.job.columns.size() != is_mean.size() ||
        !std::ranges::equal(result.rows, rows, {}, &ScoredRow::ordinal, &ScoredRow::ordinal)) {
      return invalid_argument("results of different seeds do not have the same examples");
    }
    mark_means(result, is_mean);
  }
  for (size_t i = 1; i < group.size(); ++i) {
    for (size_t r = 0; r < rows.size(); ++r) {
      for (size_t c = 0; c < rows[r].values.size(); ++c) {
        const double more = group[i].rows[r].values[c] - rows[r].values[c];
        rows[r].values[c] += more / static_cast<double>(i + 1);
      }
    }
  }
  return {};
}

/// Rows of examples that both have; `is_mean` is left to the caller.
PairedStatistics aligned(ScoredResult first, ScoredResult second) {
  PairedStatistics paired;
  paired.columns = first.job.columns;
  auto a = first.rows.begin();
  auto b = second.rows.begin();
  const auto end_a = first.rows.end();
  const auto end_b = second.rows.end();
  while (a != end_a || b != end_b) {
    if (b == end_b || (a != end_a && a->ordinal < b->ordinal)) {
      leave_out(*a++, paired.only_first, paired.only_first_clusters);
    } else if (a == end_a || b->ordinal < a->ordinal) {
      leave_out(*b++, paired.only_second, paired.only_second_clusters);
    } else {
      paired.ordinals.push_back(a->ordinal);
      paired.clusters.push_back(std::move(a->cluster));
      paired.empty_first += a->empty ? 1 : 0;
      paired.empty_second += b->empty ? 1 : 0;
      paired.first.push_back(std::move(a++->values));
      paired.second.push_back(std::move(b++->values));
    }
  }
  return paired;
}

}  // namespace

PairedStatistics paired_statistics(ScoredResult first, ScoredResult second) {
  std::vector<bool> is_mean(first.job.columns.size(), true);
  mark_means(first, is_mean);
  mark_means(second, is_mean);
  PairedStatistics paired = aligned(std::move(first), std::move(second));
  paired.is_mean = std::move(is_mean);
  return paired;
}

Result<PairedStatistics> paired_statistics(std::vector<ScoredResult> first,
                                           std::vector<ScoredResult> second) {
  std::vector<bool> is_mean(first.empty() ? 0 : first.front().job.columns.size(), true);
  for (std::vector<ScoredResult>* group : {&first, &second}) {
    if (Status averaged = average(*group, is_mean); !averaged.ok()) return averaged.error();
  }
  PairedStatistics paired = aligned(std::move(first.front()), std::move(second.front()));
  paired.is_mean = std::move(is_mean);
  return paired;
}

}  // namespace qfs::compare
