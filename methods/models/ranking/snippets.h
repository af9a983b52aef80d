// Snippets: the pieces of a document that a scorer chooses among, and those that it learns to find:
// DYLE's extractive oracle (Mao et al. 2022, section 3, and the released code) or the gold evidence
// of the data.
//
// Called by the sessions of dyle and locator; torch-free. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/example.h"
#include "harness/api/result.h"

namespace qfs::ranking {

struct Snippet {
  std::vector<Segment> parts;  ///< one; passages may have more

  /// As models read it: a line for each part, with the speaker.
  std::string text() const;
  /// As the oracle compares it: without speakers.
  std::string content() const { return content_of(text()); }
  /// The same of what `text` begins with.
  std::string content_of(std::string_view beginning) const;

  friend bool operator==(const Snippet&, const Snippet&) = default;
};

/// What a document is taken apart into: its segments, or one of these.
struct SnippetRule {
  /// Sentences, cut into pieces of at most so many lower-cased Treebank tokens, as the release has
  /// them of reports and articles.
  std::optional<int64_t> piece_words = {};
  /// Passages: neighbouring segments of at most so many words between blanks, speakers among them
  /// (of a segment's own at least one). A longer segment is cut, behind a word that ends in a full
  /// stop or such where the second half of what it may have has one.
  std::optional<int64_t> passage_words = {};
};

/// The snippets of a document; segments without text are left out. `data`, naming the example,
/// where there are none, and for passages of Chinese, which has no blanks.
/// `data`: a document without text, or passages of Chinese.
Status check_document(const Example& example, const SnippetRule& rule);
Result<std::vector<Snippet>> snippets_of(const Example& example, const SnippetRule& rule = {});

/// The greedy oracle of snippets towards a reference, in document order, as DYLE's files hold it
/// (released_indices: repeated texts give duplicates). Errors of oracle_text.
Result<std::vector<int64_t>> oracle_list(const std::vector<Snippet>& snippets,
                                         const std::string& reference, bool chinese);

/// The same of an example's first reference. `data`: it has none; errors name the example.
Result<std::vector<int64_t>> oracle_of(const Example& example,
                                       const std::vector<Snippet>& snippets);

/// The segments with text that an example's gold spans hold, by rising index. None: it has no
/// evidence. `data` for a span that is not in the document, naming the example.
Result<std::vector<int64_t>> evidence_segments(const Example& example);
/// The same as snippets without pieces.
Result<std::vector<int64_t>> evidence_list(const Example& example);

/// An error with the example in front.
Error of_example(const Error& error, const Example& example);

/// Those of a list that are learned from, as DYLE's release keeps them: below `visible`, and of
/// more than 3 words, an empty one between two blanks counted.
std::vector<int64_t> kept_targets(const std::vector<int64_t>& list,
                                  const std::vector<Snippet>& snippets, int64_t visible);

/// The snippets by falling score, of equal ones the lower index first.
std::vector<int64_t> ranked(std::span<const float> scores);

/// Whether a language tag is one of Chinese.
bool is_chinese(const std::string& language);

}  // namespace qfs::ranking
