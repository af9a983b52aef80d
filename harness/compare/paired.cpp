#include "harness/compare/paired.h"

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "harness/core/sha256.h"

namespace qfs::compare {
namespace {

Result<DatasetId> dataset_of(const StoredResult& stored) {
  const Result<store::ResultRow> result = stored.reader->result(stored.id);
  if (!result) return result.error();
  Result<store::CellRow> cell = stored.reader->cell(result->key.cell);
  if (!cell) return cell.error();
  return cell->dataset;
}

Result<store::ScoreJobRow> job_of(const StoredResult& stored, std::string_view signature) {
  Result<std::vector<store::ScoreJobRow>> jobs = stored.reader->scores(stored.id);
  if (!jobs) return jobs.error();
  for (store::ScoreJobRow& job : *jobs) {
    if (job.signature == signature) return std::move(job);
  }
  return not_found("result " + std::to_string(stored.id.value) +
                   " has no score with the signature '" + std::string(signature) + "'");
}

/// Clears the marks of columns whose stored corpus value is not the mean of the rows.
void mark_means(const store::ScoreJobRow& job, const std::vector<store::StatisticRow>& rows,
                std::vector<bool>& is_mean) {
  constexpr double kTolerance = 1e-9;
  for (size_t c = 0; c < job.columns.size(); ++c) {
    double sum = 0;
    for (const store::StatisticRow& row : rows) sum += row.values[c];
    const double mean = sum / static_cast<double>(rows.size());
    for (const store::ScoreRow& score : job.scores) {
      if (score.name == job.columns[c] && !(std::abs(score.value - mean) <= kTolerance)) {
        is_mean[c] = false;
      }
    }
  }
}

/// Examples whose scored text is empty: the output, or what a chain made of it.
Result<std::set<int64_t>> empty_texts(const StoredResult& stored,
                                      const std::vector<store::StatisticRow>& rows) {
  const Result<std::vector<store::OutputRow>> outputs = stored.reader->outputs(stored.id);
  if (!outputs) return outputs.error();
  std::set<int64_t> empty;
  for (const store::OutputRow& output : *outputs) {
    if (output.prediction.text.empty()) empty.insert(output.ordinal);
  }
  const std::string nothing = sha256_hex("");
  for (const store::StatisticRow& row : rows) {
    if (row.processed_sha256 == nothing) empty.insert(row.ordinal);
  }
  return empty;
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

Result<PairedStatistics> paired_statistics(const StoredResult& first, const StoredResult& second,
                                           std::string_view signature) {
  const Result<DatasetId> dataset = dataset_of(first);
  if (!dataset) return dataset.error();
  const Result<DatasetId> other_dataset = dataset_of(second);
  if (!other_dataset) return other_dataset.error();
  if (*dataset != *other_dataset) {
    return invalid_argument("results " + std::to_string(first.id.value) + " and " +
                            std::to_string(second.id.value) +
                            " are of different data sets; only equal examples can be paired");
  }
  const Result<store::ScoreJobRow> first_job = job_of(first, signature);
  if (!first_job) return first_job.error();
  const Result<store::ScoreJobRow> second_job = job_of(second, signature);
  if (!second_job) return second_job.error();
  Result<std::vector<store::StatisticRow>> first_rows = first.reader->statistics(first_job->id);
  if (!first_rows) return first_rows.error();
  Result<std::vector<store::StatisticRow>> second_rows = second.reader->statistics(second_job->id);
  if (!second_rows) return second_rows.error();
  const Result<std::vector<store::ExampleRow>> examples = first.reader->examples(*dataset);
  if (!examples) return examples.error();
  std::map<int64_t, const store::ExampleRow*> known;
  for (const store::ExampleRow& example : *examples) known[example.ordinal] = &example;
  const auto leave_out = [&](int64_t ordinal, std::vector<std::string>& names,
                             std::vector<std::string>& clusters) {
    const auto found = known.find(ordinal);
    names.push_back(found == known.end() ? std::to_string(ordinal) : found->second->key);
    clusters.push_back(found == known.end() ? "" : found->second->document_id);
  };
  const Result<std::set<int64_t>> first_empty = empty_texts(first, *first_rows);
  if (!first_empty) return first_empty.error();
  const Result<std::set<int64_t>> second_empty = empty_texts(second, *second_rows);
  if (!second_empty) return second_empty.error();

  PairedStatistics paired;
  paired.columns = first_job->columns;
  paired.is_mean.assign(paired.columns.size(), true);
  mark_means(*first_job, *first_rows, paired.is_mean);
  mark_means(*second_job, *second_rows, paired.is_mean);
  auto a = first_rows->begin();
  auto b = second_rows->begin();
  while (a != first_rows->end() && b != second_rows->end()) {
    if (a->ordinal < b->ordinal) {
      leave_out((a++)->ordinal, paired.only_first, paired.only_first_clusters);
    } else if (b->ordinal < a->ordinal) {
      leave_out((b++)->ordinal, paired.only_second, paired.only_second_clusters);
    } else {
      const auto example = known.find(a->ordinal);
      if (example == known.end()) {
        return internal_error("the store has a score of example " + std::to_string(a->ordinal) +
                              " that its data set lacks");
      }
      paired.ordinals.push_back(a->ordinal);
      paired.clusters.push_back(example->second->document_id);
      paired.empty_first += first_empty->contains(a->ordinal) ? 1 : 0;
      paired.empty_second += second_empty->contains(a->ordinal) ? 1 : 0;
      paired.first.push_back(std::move(a->values));
      paired.second.push_back(std::move(b->values));
      ++a;
      ++b;
    }
  }
  for (; a != first_rows->end(); ++a) {
    leave_out(a->ordinal, paired.only_first, paired.only_first_clusters);
  }
  for (; b != second_rows->end(); ++b) {
    leave_out(b->ordinal, paired.only_second, paired.only_second_clusters);
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
