// What a gate prints and writes: text, JSON, JUnit XML, a Markdown summary of differences, and
// annotations of GitHub. Every foreign name is escaped for its sink. Used by gate_command.cpp.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "harness/cli/gate_checks.h"

namespace qfs::cli {

struct GateReport {
  std::string baseline;  ///< what the two sides are called
  std::string candidate;
  gate::Outcome outcome;
  std::vector<GateCheck> checks;  ///< of `outcome`
  bool created =
      false;  ///< there was no baseline: the candidate became it, and nothing was checked
};

/// Everything that is not simply unchanged, power, and the closing line.
std::string gate_text(const GateReport& report);
std::string gate_json(const GateReport& report);
/// One test case a check: `worse` fails; what was not compared or cannot be decided is an error.
std::string gate_junit(const GateReport& report);
/// Differences only, at most a thousand rows: a job summary may hold 1 MiB.
std::string gate_markdown(const GateReport& report);
/// Ten at most, the worst first, and one that says how many more: GitHub shows no more of a kind.
std::string gate_annotations(const GateReport& report);

}  // namespace qfs::cli
