// Snippets: the pieces of a document that DYLE's extractor chooses among, and its extractive oracle
// over them (specification of the training data: Mao et al. 2022, section 3, and the released
// code).
//
// Called by dyle's sessions; torch-free. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/example.h"
#include "harness/api/result.h"

namespace qfs::dyle {

struct Snippet {
  std::string text;     ///< as models read it: with the speaker
  std::string content;  ///< as the oracle compares it: without

  friend bool operator==(const Snippet&, const Snippet&) = default;
};

/// The segments of a document, those without text left out; with `piece_words` sentences cut into
/// pieces of at most so many lower-cased Treebank tokens, as the release has them of reports and
/// articles. `data` for an example without snippets, naming it; errors of oracle_text.
Result<std::vector<Snippet>> snippets_of(const Example& example,
                                         std::optional<int64_t> piece_words);

/// The greedy oracle of snippets towards a reference, in document order, as DYLE's files hold it
/// (released_indices: repeated texts give duplicates). Errors of oracle_text.
Result<std::vector<int64_t>> oracle_list(const std::vector<Snippet>& snippets,
                                         const std::string& reference, bool chinese);

/// Those of an oracle list that the release keeps: below `visible`, and of more than 3 words, an
/// empty one between two blanks counted.
std::vector<int64_t> kept_oracles(const std::vector<int64_t>& oracle,
                                  const std::vector<Snippet>& snippets, int64_t visible);

/// Whether a language tag is one of Chinese.
bool is_chinese(const std::string& language);

}  // namespace qfs::dyle
