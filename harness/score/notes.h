// ScoringNotes: what metrics have to say about the texts they scored, said once with a count.
//
// Filled by the scorers from Metric::note, merged and shown by the command line. A text in a script
// that a tokenizer drops is the typical cause: the number is right and means nothing. Values; not
// thread-safe.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/api/metric.h"

namespace qfs::score {

class ScoringNotes {
 public:
  /// `places`: where each item stands in the user's files; without them items have their ids.
  void add(const Metric& metric, std::span<const ScoreItem> items,
           std::span<const std::string> places = {});
  void add(const ScoringNotes& other);

  /// One line a metric and cause: "rouge: … (12 of 20 items, the first is item 3)".
  std::vector<std::string> lines() const;

 private:
  struct Count {
    int64_t items = 0;
    std::string first;  ///< place of the first item
  };
  std::map<std::string, int64_t> scored_;                        ///< items seen, by metric
  std::map<std::pair<std::string, std::string>, Count> causes_;  ///< by metric and note
};

}  // namespace qfs::score
