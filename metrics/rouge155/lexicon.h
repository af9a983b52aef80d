// Lexicon: the word lists that ROUGE-1.5.5 reads: irregular forms (WordNet 2.0) and stop words.
//
// Read by the command line and the catalogue's entry; used by Vocabulary. Two forms of the
// exception list give the same table: a file of "form lemma" lines, or WordNet's folder of
// verb.exc, noun.exc, adv.exc and adj.exc, later files overriding earlier ones and a line's first
// lemma counting. The Perl original reads a Berkeley DB instead, which several wrappers ship
// *empty*: an empty list is therefore something a user has to say (`no_exceptions`). Immutable;
// thread-safe. Errors: a file that is absent, or a line without two words, with its number.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "harness/api/result.h"

namespace qfs::metrics::rouge155 {

struct WordHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

struct ExceptionList {
  std::unordered_map<std::string, std::string, WordHash, std::equal_to<>> lemma_of;
  std::string digest;  ///< SHA-256 of the sorted "form<TAB>lemma" lines; "none" for an empty list
};

struct StopWords {
  std::unordered_set<std::string, WordHash, std::equal_to<>> words;
  std::string digest;  ///< SHA-256 of the sorted lines
};

ExceptionList no_exceptions();
/// A file, or a folder of WordNet's four lists.
Result<ExceptionList> read_exceptions(const std::string& path);
/// One word a line, taken as it stands.
Result<StopWords> read_stop_words(const std::string& path);

/// What a folder of ROUGE-1.5.5 data offers; empty paths where there is none.
struct DataFolder {
  std::string exceptions;
  std::string stop_words;
  std::string warning;  ///< when the Perl script would read an empty database in this folder
};
DataFolder look_into_data_folder(const std::string& folder);

struct Lexicon {
  bool stem = false;  ///< -m
  ExceptionList exceptions = {{}, "none"};
  StopWords stop_words;  ///< -s; empty: all words count
};

}  // namespace qfs::metrics::rouge155
