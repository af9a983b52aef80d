// A signature read back: "rouge|compat:…|stem:porter-nltk|…" as a metric and its fields.
//
// Called by `score --explain-diff`. Pure. Text that is no signature of this program is
// `invalid_argument`; a key or metric that it does not have is `not_found` with the nearest one.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"

namespace qfs::score {

struct SignatureFields {
  std::string metric;                                       ///< "rouge"
  std::vector<std::pair<std::string, std::string>> fields;  ///< key, value, as written
  std::string name;  ///< the metric's name with options, where that was given instead

  /// The value of a key; empty when it is not there.
  std::string_view value(std::string_view key) const;
};

/// Splits and nothing else: any name and keys, each once.
Result<SignatureFields> split_signature(std::string_view text);

/// A signature as `score` prints it in long form or a metric's own, or, without '|', the name of a
/// metric with its options.
Result<SignatureFields> read_signature(std::string_view text, const MetricCatalog& catalog);

/// What a key is about, in words: "stemming" for "stem"; the key itself when it is not known.
std::string key_in_words(std::string_view key);

}  // namespace qfs::score
