#include "harness/compare/paired.h"

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

/// Makes rows that are means of `count` results means of one more.
void add_share(const std::vector<Statistics>& more, double count, std::vector<Statistics>& rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t c = 0; c < rows[i].size(); ++c) {
      rows[i][c] += (more[i][c] - rows[i][c]) / (count + 1);
    }
  }
}

}  // namespace

PairedStatistics paired_statistics(ScoredResult first, ScoredResult second) {
  PairedStatistics paired;
  paired.columns = first.job.columns;
  paired.is_mean.assign(paired.columns.size(), true);
  mark_means(first, paired.is_mean);
  mark_means(second, paired.is_mean);
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

Result<PairedStatistics> paired_statistics(std::span<const StoredResult> first,
                                           std::span<const StoredResult> second,
                                           std::string_view signature) {
  if (first.empty() || second.empty()) {
    return invalid_argument("there is no result to pair");
  }
  Result<PairedStatistics> mean = paired_statistics(first.front(), second.front(), signature);
  // Each further result is paired with the first of the other side, to see the same examples.
  for (const bool of_first : {true, false}) {
    const std::span<const StoredResult> group = of_first ? first : second;
    for (size_t i = 1; mean && i < group.size(); ++i) {
      const auto more = paired_statistics(of_first ? group[i] : first.front(),
                                          of_first ? second.front() : group[i], signature);
      if (!more) return more.error();
      if (more->ordinals != mean->ordinals) {
        return invalid_argument("results of different seeds do not have the same examples");
      }
      std::vector<Statistics>& rows = of_first ? mean->first : mean->second;
      add_share(of_first ? more->first : more->second, static_cast<double>(i), rows);
      for (size_t c = 0; c < mean->is_mean.size(); ++c) {
        mean->is_mean[c] = mean->is_mean[c] && more->is_mean[c];
      }
    }
  }
  return mean;
}

}  // namespace qfs::compare
