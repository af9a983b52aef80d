// Dictionary: how common words are in general text, from a file or from the documents of a
// training.
//
// Read by egad's sessions; torch-free. Immutable; thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "harness/api/result.h"

namespace qfs::egad {

class Dictionary {
 public:
  /// One "word count" a line, or one word a line by rank, of which the n-th counts as a fraction
  /// 1/n of the first; words are lower-cased, and what is there twice adds up. `data` with the
  /// line: two kinds of lines, a count that is no number from 1 on, more than two fields,
  /// ill-formed UTF-8.
  static Result<Dictionary> parse(std::string_view text, const std::string& source);

  /// Adds the words of a document, each once a time it occurs.
  void count(std::string_view document);

  /// None of a word that is not there.
  std::optional<double> frequency(const std::string& lower_case_word) const;
  double total() const { return total_; }
  size_t size() const { return frequencies_.size(); }

 private:
  void add(const std::string& word, double frequency);

  std::map<std::string, double> frequencies_;
  double total_ = 0;
};

}  // namespace qfs::egad
