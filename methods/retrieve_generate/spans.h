// Spans: what a locator took of documents, as a file holds it for QMSum's queries
// (extracted_span/ of its repository: "<s> query </s> text" a line, lower-cased tokens).
//
// Read by retrieve_generate's sessions; torch-free. Immutable; thread-safe. Lines are in no order
// of the examples' and name no meeting, so they are found by the query, and among those of one
// query by the document: the line of most word trigrams that the document has, too.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/example.h"
#include "harness/api/result.h"

namespace qfs::retrieve_generate {

class Spans {
 public:
  /// `data` with the line: one of another form, a query without words, a line without text.
  static Result<Spans> parse(std::string_view text, const std::string& source);

  /// The text for an example. `not_found`: no line has its query, or none with it at least half of
  /// its trigrams of its document.
  Result<std::string> of(const Example& example) const;

  size_t size() const { return size_; }

 private:
  std::string source_;
  std::map<std::string, std::vector<std::string>> texts_;  ///< by the letters of the query
  size_t size_ = 0;
};

}  // namespace qfs::retrieve_generate
