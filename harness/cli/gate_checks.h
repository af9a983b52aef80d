// The outcome of a gate as one list of checks, worst first, each with the words that every output
// shows: text, JSON, JUnit, Markdown, annotations.
//
// Used by gate_command.cpp and the writers of gate_output.h. The texts hold foreign names and are
// not escaped: each writer has its own way. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/gate/gate.h"

namespace qfs::cli {

enum class CheckState { worse, incomplete, cannot_decide, not_worse };

struct GateCheck {
  CheckState state = CheckState::not_worse;
  std::string cell;
  std::string value;      ///< "rougeL.f", "peak_memory"; empty where the whole cell is meant
  std::string rule;       ///< of several checks of a value: "margin", "at least 20"
  std::string baseline;   ///< as tables show it; empty where there is none
  std::string candidate;  ///< likewise
  std::string change;     ///< "-1.20", "× 0.83"
  std::string sentence;
  bool differs = false;  ///< the candidate has another value than the baseline
};

/// Worst first, else in the order of the sweep. Differences that were not compared are among them.
std::vector<GateCheck> gate_checks(const gate::Outcome& outcome);

/// "gate: WORSE: 2 of 24 checks are worse, 1 cannot be decided": the closing line.
std::string closing_line(const gate::Outcome& outcome, const std::vector<GateCheck>& checks);

/// How often drops are found, for each metric on the cell where that is seldomest, and the chance
/// of a false alarm; a sentence each.
std::vector<std::string> power_lines(const gate::Outcome& outcome);

std::string_view to_string(CheckState state);  ///< "cannot_decide"

}  // namespace qfs::cli
