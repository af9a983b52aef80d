// What may stand in a table's cells: columns of metrics and the built-in values of performance and
// coverage, each with its source in the store and the way it is printed.
//
// Used by reports/report.cpp and `qfs-bench list`. Thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/table.h"

namespace qfs::reports {

/// Where the number comes from.
enum class ValueSource {
  score,            ///< a column of a metric
  peak_memory,      ///< device peak where there is one, else the host's
  memory_kind,      ///< one named peak
  phase_rate,       ///< tokens per second of a phase
  phase_fraction,   ///< share of the machine's limit that a phase reached
  machine_rate,     ///< one of the machine's limits
  phase_latency,    ///< mean time of a phase per unit
  example_time,     ///< mean time of an example
  example_flops,    ///< mean operations of an example
  example_joules,   ///< mean energy of an example
  document_kept,    ///< share of document tokens that the method could read
  documents_cut,    ///< share of examples whose document was cut
  document_tokens,  ///< mean document tokens of an example, before any cut
  evidence_cut,     ///< share of the gold evidence that was cut
  latency,          ///< a percentile of the time from request to answer, of outputs that say it
  tokens_read,      ///< mean prompt tokens of an output
  tokens_made,      ///< mean produced tokens of an output
  training,         ///< what the training that it rests on took
  fact,             ///< the mean of a number that the method says of each output
  money,            ///< what the outputs cost at the prices of the sweep
};

struct ValueSpec {
  TableValue shown;
  ValueSource source = ValueSource::score;
  std::string key;     ///< metric column, phase or kind of memory
  std::string metric;  ///< "rouge:stem=off" of "rouge:stem=off/rouge1.f"; empty: any metric
};

/// A built-in value for `list` and `--help`.
struct BuiltInValue {
  std::string_view name;
  std::string_view doc;
};
std::span<const BuiltInValue> built_in_values();

/// The value with this name. "fact.NAME" is what a method says of each output; everything else that
/// is not built in is taken for a metric's column, "column" or "metric/column"; whether a store has
/// it is found out later.
ValueSpec value_spec(std::string_view name);

/// The values that `coverage` adds under a table.
std::vector<std::string> coverage_values();

}  // namespace qfs::reports
