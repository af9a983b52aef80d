#include "harness/score/text_scorer.h"

#include <algorithm>
#include <future>
#include <optional>
#include <utility>

namespace qfs::score {
namespace {

/// Fewer items than this are not worth a thread.
constexpr size_t kItemsPerThread = 64;

int64_t bytes_of(const ScoreItem& item) {
  size_t bytes = item.candidate.size() + 64;
  for (const std::string& reference : item.references) bytes += reference.size() + 32;
  if (item.document) bytes += item.document->size();
  if (item.query) bytes += item.query->size();
  return static_cast<int64_t>(bytes);
}

/// The first error of `parts`, or all rows in order.
Result<std::vector<Statistics>> joined(std::vector<Result<std::vector<Statistics>>> parts) {
  std::vector<Statistics> rows;
  for (Result<std::vector<Statistics>>& part : parts) {
    if (!part) return part.error();
    std::ranges::move(*part, std::back_inserter(rows));
  }
  return rows;
}

Result<std::vector<Statistics>> measured(const Metric& metric, std::span<const ScoreItem> items,
                                         unsigned threads) {
  const size_t parts = std::min<size_t>(threads, items.size() / kItemsPerThread + 1);
  if (parts <= 1 || metric.needs().corpus) return metric.measure(items);
  std::vector<std::future<Result<std::vector<Statistics>>>> futures;
  for (size_t part = 0; part < parts; ++part) {
    const size_t begin = items.size() * part / parts;
    const size_t end = items.size() * (part + 1) / parts;
    futures.push_back(std::async(std::launch::async, [&metric, items, begin, end] {
      return metric.measure(items.subspan(begin, end - begin));
    }));
  }
  std::vector<Result<std::vector<Statistics>>> results;
  for (auto& future : futures) results.push_back(future.get());
  return joined(std::move(results));
}

/// Metrics name items by their number; people want the line.
Error at_place(Error error, const Metric& metric, std::span<const ScoreItem> items,
               std::span<const std::string> places) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (error.where == "item " + std::to_string(items[i].id)) error.where = places[i];
  }
  error.message = "metric " + std::string(metric.name()) + ": " + error.message;
  return error;
}

}  // namespace

TextScorer::TextScorer(std::vector<std::shared_ptr<const Metric>> metrics,
                       TextScorerOptions options)
    : options_(options) {
  needs_.references = false;
  for (std::shared_ptr<const Metric>& metric : metrics) {
    const MetricNeeds needs = metric->needs();
    needs_.references |= needs.references;
    needs_.document |= needs.document;
    needs_.query |= needs.query;
    needs_.corpus |= needs.corpus;
    std::vector<std::string> columns = metric->columns();
    scores_.push_back({std::move(metric), std::move(columns), {}, {}});
  }
}

Status TextScorer::add(ScoreItem item, std::string where) {
  item.id = count_++;
  batch_.bytes += bytes_of(item);
  batch_.items.push_back(std::move(item));
  batch_.places.push_back(std::move(where));
  const bool full = static_cast<int64_t>(batch_.items.size()) >= options_.batch_items ||
                    batch_.bytes >= options_.batch_bytes;
  return full && !needs_.corpus ? start_batch() : Status();
}

Status TextScorer::wait() { return running_.valid() ? running_.get() : Status(); }

Status TextScorer::start_batch() {
  if (Status before = wait(); !before) return before;
  Batch batch = std::exchange(batch_, {});
  if (options_.threads <= 1) return measure(batch);
  running_ =
      std::async(std::launch::async, [this, batch = std::move(batch)] { return measure(batch); });
  return {};
}

Status TextScorer::measure(const Batch& batch) {
  for (TextScore& score : scores_) {
    const Metric& metric = *score.metric;
    Result<std::vector<Statistics>> rows = measured(metric, batch.items, options_.threads);
    if (!rows) return at_place(rows.error(), metric, batch.items, batch.places);
    if (rows->size() != batch.items.size()) {
      return internal_error("metric " + std::string(metric.name()) + " gave " +
                            std::to_string(rows->size()) + " rows for " +
                            std::to_string(batch.items.size()) + " items");
    }
    for (const Statistics& row : *rows) {
      if (row.size() == score.columns.size()) continue;
      return internal_error("metric " + std::string(metric.name()) + " gave " +
                            std::to_string(row.size()) + " values for " +
                            std::to_string(score.columns.size()) + " columns");
    }
    std::ranges::move(*rows, std::back_inserter(score.statistics));
    notes_.add(metric, batch.items, batch.places);
  }
  return {};
}

Result<std::vector<TextScore>> TextScorer::finish() {
  if (count_ == 0) return data_error("there is nothing to score");
  if (!batch_.items.empty()) {
    if (Status status = start_batch(); !status) return status.error();
  }
  if (Status status = wait(); !status) return status.error();
  for (TextScore& score : scores_) score.values = score.metric->aggregate(score.statistics);
  return std::move(scores_);
}

}  // namespace qfs::score
