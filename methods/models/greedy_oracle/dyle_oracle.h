// The greedy search of DYLE's extractive oracle (Mao et al. 2022, released code, oracle/qmsum).
//
// Called by the method oracle_dyle; a plain function so that its lists can be compared with
// published ones. Stateless, thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace qfs::greedy_oracle {

/// Ascending indices of the chosen units. `units` and `reference` are tokenized texts (tokens
/// joined by a blank). A unit that is empty, is ".", or scores 0 by itself is no candidate. In each
/// round the unit is added whose summary (units in document order, joined by a blank) scores best,
/// the earliest on ties, as long as that beats the score so far; there is no limit on their number.
std::vector<size_t> dyle_oracle(const std::vector<std::string>& units,
                                const std::string& reference);

/// The indices as DYLE's files hold them: for each chosen unit the first one of the document with
/// the same text, so repeated short turns give duplicate or descending numbers.
std::vector<size_t> released_indices(const std::vector<std::string>& units,
                                     const std::vector<size_t>& chosen);

}  // namespace qfs::greedy_oracle
