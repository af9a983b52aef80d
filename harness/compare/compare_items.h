// Two measured files of predictions against each other, item by item.
//
// Called by `compare` and gates. Pure; thread-safe. Ids that do not agree, other references for an
// item and other clusters are `data` errors that name the item.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/api/json.h"
#include "harness/api/result.h"
#include "harness/compare/comparison.h"
#include "harness/score/text_scorer.h"

namespace qfs::compare {

struct MeasuredItems {
  std::string name;  ///< of the file
  std::vector<std::string> ids;
  std::vector<std::string> clusters;
  std::vector<size_t> reference_hashes;  ///< to see whether both have the same
  std::string unit = "item";             ///< what a cluster is
  std::vector<bool> empty;               ///< texts that are nothing, or white space alone
  Json postprocess{"[]"};                ///< the chain that the texts went through
  std::vector<std::string> metrics;      ///< as the user wrote them
  std::vector<score::TextScore> scores;  ///< one a metric
};

/// Both are measured by the same metrics. Items of one side only are an error, or listed with
/// `request.skip_missing`.
Result<Outcome> compare_items(const MeasuredItems& a, const MeasuredItems& b,
                              const Request& request);

}  // namespace qfs::compare
