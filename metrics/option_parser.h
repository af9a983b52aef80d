// "option=value,option=value" against a metric's declared options.
//
// Called by the catalogue only. Every message names the metric and the nearest valid option or
// value. A comma inside a value is written "\,". Pure; thread-safe.
#pragma once

#include <span>
#include <string_view>

#include "harness/api/metric_entry.h"

namespace qfs::metrics {

/// Defaults, then `preset` (of an alias), then `given` (the user's). `name` is the whole name as
/// the user wrote it, for messages.
Result<MetricOptionValues> read_options(std::span<const MetricOption> declared,
                                        std::string_view preset, std::string_view given,
                                        std::string_view name);

}  // namespace qfs::metrics
