// Every way of computing `rouge` over the user's texts, as `score --match` tries them.
//
// Called by file_analyses.cpp. Thread-safe; errors as metrics::rouge_variants. Where Punkt's data
// are absent, its sentences are not tried, and the reason is in the result.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/score/match.h"

namespace qfs::score {

Result<MatchTries> rouge_tries(std::span<const ScoreItem> items, unsigned threads);

}  // namespace qfs::score
