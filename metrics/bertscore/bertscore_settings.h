// What a user may say about BERTScore, and how the score is signed.
//
// Read by the driver, which finds the model and starts the host that computes
// (harness/cli/hosted_metrics). Pure but for reading the baseline file; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/method.h"
#include "harness/api/metric_entry.h"
#include "harness/api/result.h"
#include "metrics/bertscore/greedy_matching.h"

namespace qfs::metrics {

struct BertScoreSettings {
  std::string model;  ///< as the user names it
  int64_t layer = 0;
  bool idf = false;
  std::optional<BertScores> baseline;
  std::string baseline_digest;  ///< of the file
  bool prefix_space = false;
  int64_t batch = 0;
};

std::vector<MetricOption> bertscore_options();

/// Errors: `invalid_argument` for a layer that is no number, or "auto" for a model of which
/// bert_score 0.3.13 has no choice; those of read_file and read_baseline.
Result<BertScoreSettings> read_bertscore_settings(const MetricOptionValues& values);

/// Every option that can change a digit.
std::string bertscore_signature(const BertScoreSettings& settings, const Resource& model);

/// The hash that bert_score 0.3.13 returns with transformers 5.23.0, as its get_hash makes it; a
/// baseline is a custom one. It calls itself 0.3.12.
std::string bert_score_hash(const BertScoreSettings& settings);

}  // namespace qfs::metrics
