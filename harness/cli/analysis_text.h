// What `score --match` and `score --explain-diff` print: text for people, and JSON.
//
// Called by score_analyses.cpp. Pure; thread-safe. Text is safe for terminals.
#pragma once

#include <span>
#include <string>

#include "harness/score/explain_diff.h"
#include "harness/score/match.h"

namespace qfs::cli {

std::string explain_text(const score::ExplainedDifference& explained);
std::string explain_json(const score::ExplainedDifference& explained);

/// One report per family of metrics.
std::string match_text(std::span<const score::MatchReport> reports);
std::string match_json(std::span<const score::MatchReport> reports);

}  // namespace qfs::cli
