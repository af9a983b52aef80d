// How the outcome of `compare` is shown: a Markdown table a metric with its verdicts, and JSON with
// everything unrounded. Text is safe for Markdown and terminals. Pure.
#pragma once

#include <string>

#include "harness/compare/comparison.h"

namespace qfs::cli {

std::string comparison_text(const compare::Outcome& outcome);
std::string comparison_json(const compare::Outcome& outcome);

}  // namespace qfs::cli
