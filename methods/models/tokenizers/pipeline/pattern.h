// Patterns: what pre-tokenizers and Replace look for in a text.
//
// Immutable; thread-safe unless a maker says otherwise (a regular expression holds a matcher behind
// a mutex). find() covers the whole text with stretches in order, matched and not; those
// that are not are never empty, matches of regular expressions may be.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/tokenizers/pipeline/aligned_text.h"

namespace qfs::tokenizers {

class Pattern {
 public:
  virtual ~Pattern() = default;
  /// Appends to `out`. Throws ErrorException (`data`) when a regular expression takes more steps or
  /// stack on this text than it may.
  virtual void find(std::string_view text, std::vector<Match>& out) const = 0;
};

using PatternPtr = std::shared_ptr<const Pattern>;

/// Each code point with the property is a match of its own.
PatternPtr make_property_pattern(bool (*property)(char32_t));
/// Every occurrence of `text`, from the left; nothing for an empty one.
PatternPtr make_text_pattern(std::string text);
/// A regular expression in Oniguruma's syntax, which tokenizer.json files have. Published ones are
/// recognised and run by hand-written code; others run in ICU under limits of time and stack, with
/// \s, \w and \d as Oniguruma means them. `unavailable` for what has another meaning in ICU, `data`
/// for one that does not compile.
Result<PatternPtr> make_regex_pattern(const std::string& expression);
/// Matches and the rest change places.
PatternPtr make_inverted_pattern(PatternPtr pattern);
/// Runs of word characters and runs of other visible ones: \w+|[^\w\s]+ of the Rust regex crate.
PatternPtr make_words_pattern();

/// An ICU expression; see make_regex_pattern, which decides.
Result<PatternPtr> make_icu_pattern(const std::string& expression);
/// The hand-written pattern for exactly this expression, or nullptr.
PatternPtr make_known_pattern(std::string_view expression);

}  // namespace qfs::tokenizers
