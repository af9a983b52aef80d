// Whether a tokenizer can see a text at all: checks that let a metric say so beside its number.
//
// Called by Metric::note of metrics whose words are ASCII or lie between spaces. A text of ASCII
// costs one pass over its bytes. Any bytes are accepted; stateless, thread-safe, cannot fail.
#pragma once

#include <string_view>

#include "harness/api/metric.h"

namespace qfs::metrics {

/// Whether a tokenizer that keeps [a-z0-9] drops more than a fifth of the text's letters.
bool drops_many_letters(std::string_view text);

/// Whether the text has eight Han characters or more and, on average, more than five of them in
/// each word between spaces that has any: Chinese that nobody segmented.
bool looks_unsegmented(std::string_view text);

/// Whether the text has something but no letter or number: emoji, other signs, punctuation.
bool has_only_signs(std::string_view text);

/// The note about a text in which a metric sees no word.
inline constexpr std::string_view kOnlySignsNote =
    "a text without any word, of emoji or other signs alone, scores as an empty one does";

/// The note of every metric whose words are runs of [a-z0-9].
std::string_view ascii_words_note(const ScoreItem& item);

/// Whether `check` holds for the candidate or a reference.
bool any_text(const ScoreItem& item, bool (*check)(std::string_view));

}  // namespace qfs::metrics
