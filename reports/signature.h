// The one line under a table that says what was computed and how: program, identity rules, data,
// metrics with every option, intervals. Private to reports. Pure functions; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/place_evaluator.h"
#include "reports/sweep_facts.h"

namespace qfs::reports {

/// "mini-meetings/test/whole#a1c2f00dbeef n=20", one a data set of the sweep.
std::vector<std::string> dataset_signatures(const SweepFacts& facts);

/// "rouge: profile:…|stem:on", one a metric that the table shows.
std::vector<std::string> metric_signatures(const UsedSources& used);

/// "cluster bootstrap by document, 95 %, 10000 resamples, seed 12345" for a bootstrap's signature;
/// any other text unchanged.
std::string interval_words(std::string_view interval_method);

/// The whole line, beginning with the program's name and version, without the store's name.
std::string signature_line(std::string_view program, const SweepFacts& facts,
                           const UsedSources& used);

}  // namespace qfs::reports
