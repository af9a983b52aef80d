// Which values of a metric's option a signature may have been made with.
//
// Used by computation.cpp. Pure; thread-safe. Numbers and words are those that the signature has
// itself; a path is never guessed.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/metric_entry.h"
#include "harness/score/signature_fields.h"

namespace qfs::score {

/// Without the default value.
std::vector<std::string> likely_values(const MetricOption& option,
                                       const SignatureFields& signature);

/// Maximal runs of letters, digits, '_' and '.'.
std::set<std::string> words_of(std::string_view text);

/// "stem=on,exceptions=a\,b" as names and values; a part without '=' is left out.
std::map<std::string, std::string> parsed_options(std::string_view text);

}  // namespace qfs::score
