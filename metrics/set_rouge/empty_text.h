// What is done about a text that the set-based packages raise an exception for: an empty one.
//
// Called by the metrics of this folder. The packages' callers differ (LongBench catches every
// exception and scores 0), so that the rule is an option and part of the signature. Pure.
#pragma once

#include <string>
#include <string_view>

#include "harness/api/metric_entry.h"

namespace qfs::metrics {

enum class EmptyText { error, zero };

/// empty=error|zero
MetricOption empty_text_option(EmptyText default_rule);
EmptyText empty_text_rule(const MetricOptionValues& values);
std::string_view to_string(EmptyText rule);

/// For `rule` error: names the text that is empty and the option.
Error empty_text_error(std::string_view role, std::string_view package);

}  // namespace qfs::metrics
