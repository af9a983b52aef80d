#include "harness/score/paired.h"

#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace qfs::score {
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
  std::map<int64_t, const std::string*> documents;
  for (const store::ExampleRow& example : *examples) {
    documents[example.ordinal] = &example.document_id;
  }

  PairedStatistics paired;
  paired.columns = first_job->columns;
  paired.is_mean.assign(paired.columns.size(), true);
  mark_means(*first_job, *first_rows, paired.is_mean);
  mark_means(*second_job, *second_rows, paired.is_mean);
  auto a = first_rows->begin();
  auto b = second_rows->begin();
  while (a != first_rows->end() && b != second_rows->end()) {
    if (a->ordinal < b->ordinal) {
      ++paired.only_first;
      ++a;
    } else if (b->ordinal < a->ordinal) {
      ++paired.only_second;
      ++b;
    } else {
      const auto document = documents.find(a->ordinal);
      if (document == documents.end()) {
        return internal_error("the store has a score of example " + std::to_string(a->ordinal) +
                              " that its data set lacks");
      }
      paired.ordinals.push_back(a->ordinal);
      paired.clusters.push_back(*document->second);
      paired.first.push_back(std::move(a->values));
      paired.second.push_back(std::move(b->values));
      ++a;
      ++b;
    }
  }
  paired.only_first += first_rows->end() - a;
  paired.only_second += second_rows->end() - b;
  return paired;
}

}  // namespace qfs::score
