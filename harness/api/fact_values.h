// Facts of outputs: members of what a method says beside each of them (Prediction::extra) that
// tables show as means, by names that begin alike ("fact.gate_entropy").
//
// Named in reports of sweep files, read by reports.
#pragma once

#include <string_view>

namespace qfs {

inline constexpr std::string_view kFactValue = "fact.";

}  // namespace qfs
