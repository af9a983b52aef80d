// TextScorer: metrics over texts that come one at a time, from files instead of a store.
//
// Called by `score` on prediction files. Items are measured in batches, on several threads, and
// forgotten; kept are their statistics, ids and clusters, so that a file larger than memory can be
// scored. A metric that needs the whole corpus (MetricNeeds::corpus) makes it keep all items. The
// values do not depend on batches or threads. Not thread-safe; errors name the place of the item.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "harness/score/notes.h"

namespace qfs::score {

struct TextScorerOptions {
  int64_t batch_items = 4096;
  int64_t batch_bytes = int64_t{32} << 20;
  unsigned threads = 1;
};

/// One metric over all items.
struct TextScore {
  std::shared_ptr<const Metric> metric;
  std::vector<std::string> columns;
  std::vector<Statistics> statistics;  ///< per item, in the order they came
  std::vector<Score> values;           ///< corpus values, one a column
};

class TextScorer {
 public:
  explicit TextScorer(std::vector<std::shared_ptr<const Metric>> metrics,
                      TextScorerOptions options = {});
  TextScorer(const TextScorer&) = delete;
  TextScorer& operator=(const TextScorer&) = delete;

  /// Whether any metric reads this; callers need not provide what none reads.
  bool needs_references() const { return needs_.references; }
  bool needs_document() const { return needs_.document; }
  bool needs_query() const { return needs_.query; }

  /// `where` is the item's place for errors ("out.jsonl:17"). The item's id is set here. With
  /// several threads a full batch is measured while the next one is read, so its error comes later.
  Status add(ScoreItem item, std::string where);

  /// Measures what is left. `data` when there was no item.
  Result<std::vector<TextScore>> finish();

  /// What the metrics have to say about the items, once finish() has returned.
  const ScoringNotes& notes() const { return notes_; }

 private:
  /// Items that are measured together.
  struct Batch {
    std::vector<ScoreItem> items;
    std::vector<std::string> places;
    int64_t bytes = 0;
  };

  Status measure(const Batch& batch);
  /// Measures the current batch, on another thread if there are several; waits for the one before.
  Status start_batch();
  Status wait();

  std::vector<TextScore> scores_;
  TextScorerOptions options_;
  MetricNeeds needs_;
  Batch batch_;
  int64_t count_ = 0;
  ScoringNotes notes_;
  std::future<Status> running_;  ///< uses scores_ and notes_; destroyed, and so awaited, first
};

}  // namespace qfs::score
