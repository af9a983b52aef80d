// Keywords of a document, as EGAD picks them: words that are frequent here and rare in general
// (arXiv 2410.08971, section 3); and those that its controls put in their place.
//
// Called by egad's sessions; torch-free. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"

namespace qfs::egad {

class Dictionary;

/// A maximal run of letters and of apostrophes between letters.
struct Word {
  std::string lower;    ///< lower-case, apostrophes as '
  std::string surface;  ///< as it stands

  friend bool operator==(const Word&, const Word&) = default;
};

std::vector<Word> words_of(std::string_view text);

/// With ' for each U+2019.
std::string with_plain_apostrophes(std::string_view word);

/// Bytes [begin, end) of a text.
struct Occurrence {
  int64_t begin = 0;
  int64_t end = 0;

  friend bool operator==(const Occurrence&, const Occurrence&) = default;
};

/// Where the words of a text stand whose lower-case form is one of `keywords`.
std::vector<Occurrence> occurrences_of(std::string_view text,
                                       const std::vector<std::string>& keywords);

/// What is compared with how common a word is.
enum class KeywordScore {
  ratio,       ///< frequency here / frequency in the dictionary
  tf_idf,      ///< frequency here * log(words of the dictionary / frequency there)
  divergence,  ///< frequency here * log(share here / share there)
};
std::vector<std::string> score_names();
KeywordScore score_from(std::string_view name);

struct KeywordRule {
  int64_t k = 20;
  KeywordScore score = KeywordScore::ratio;
  int64_t fewest = 1;    ///< occurrences
  bool surface = false;  ///< as most often written, the earliest on ties, instead of lower-case
};

/// The k best words of a text that the dictionary has, best first; of equal scores the more
/// frequent here, then the earlier. Fewer where there are no more.
std::vector<std::string> keywords_of(std::string_view text, const Dictionary& dictionary,
                                     const KeywordRule& rule);

/// k distinct words of a text, drawn: the first of one permutation for each set and document, so
/// that more words begin with fewer.
std::vector<std::string> drawn_words(std::string_view text, int64_t k, uint64_t set,
                                     std::string_view document_id);

/// k strings of letters; lengths as of Binomial(10, 1/2), but not 0.
std::vector<std::string> gibberish(int64_t k, uint64_t set, std::string_view document_id);

}  // namespace qfs::egad
