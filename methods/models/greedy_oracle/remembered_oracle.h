// DYLE's oracle, stored: a list that was searched for once is read afterwards.
//
// Called by what learns from the oracle or reads it (oracle_dyle searches each time: its time is a
// result). Lists lie in the user's cache, in at most 4096 files "oracles/XYZ" by the first digits
// of a key, a line each: "KEY INDEX … .". A key is the SHA-256 of the texts and of the search's
// version. A line that is damaged, or cannot be kept, costs a search and nothing else. Thread-safe,
// also between processes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace qfs::greedy_oracle {

/// What dyle_oracle gives for these texts.
std::vector<size_t> remembered_oracle(const std::vector<std::string>& units,
                                      const std::string& reference);

}  // namespace qfs::greedy_oracle
