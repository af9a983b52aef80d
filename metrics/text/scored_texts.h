// What every metric over texts checks of an item before it reads it, and how it names the item.
//
// Called by the metrics. Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "harness/api/metric.h"

namespace qfs::metrics {

/// "item 7", as `where` of errors.
std::string item_name(const ScoreItem& item);

/// `text` is well-formed UTF-8; else a `data` error that names it by `role` and the byte.
Status check_text(std::string_view text, std::string_view role);

/// Candidate and references are well-formed UTF-8, and there is at least one reference. A `data` or
/// `invalid_argument` error names the item, the text and the byte; `metric` is for its message.
Status check_texts(const ScoreItem& item, std::string_view metric);

}  // namespace qfs::metrics
