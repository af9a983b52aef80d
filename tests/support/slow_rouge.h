// The slow twin of metrics/rouge: whole dynamic-programming tables over strings, written after the
// definition in rouge_score 0.1.2 (rouge_scorer.py) without any of the fast version's devices.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "metrics/rouge/prepared_reference.h"

namespace qfs::test {

using Words = std::vector<std::string>;

Words slow_tokens(std::string_view text, bool stem);

/// (rows + 1) x (columns + 1) LCS lengths.
std::vector<std::vector<int>> lcs_table(const Words& reference, const Words& candidate);

/// Ascending indices of the reference tokens on the subsequence that rouge_score reads out.
std::vector<size_t> lcs_indices(const Words& reference, const Words& candidate);

metrics::RougeScores slow_rouge(std::string_view reference, std::string_view candidate, bool stem);

}  // namespace qfs::test
