// A signature read back: "rouge|compat:…|stem:porter-nltk|…|v:1|n:20|…" as a metric, its own fields
// and those of a run, which come behind the metric's version.
//
// Called by `score --explain-diff`. Pure. Text that is no signature of this program is
// `invalid_argument`; a key or metric that it does not have is `not_found` with the nearest one.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"

namespace qfs::score {

struct SignatureFields {
  using Fields = std::vector<std::pair<std::string, std::string>>;  ///< key, value, as written

  std::string
      metric;     ///< "rouge"; with what it is made of where that is said: "longbench|pltrdy-…"
  Fields fields;  ///< of the metric, up to its version
  Fields run;     ///< of the run: items, references, interval, postprocessing
  std::string name;      ///< the metric's name with options, where that was given instead
  bool of_tool = false;  ///< another tool's signature, which says less of the run
  bool version_here =
      false;  ///< the tool's version in it is the one whose digits are computed here

  /// The metric's value of a key; empty when it is not there.
  std::string_view value(std::string_view key) const;
  bool has(std::string_view key) const;
  /// The run's; where the metric says no version, its fields are looked at too.
  std::string_view run_value(std::string_view key) const;
};

/// Splits and nothing else: any name and keys, each once for the metric and once for the run.
Result<SignatureFields> split_signature(std::string_view text);

/// A signature as `score` prints it in long form or a metric's own, or, without '|', the name of a
/// metric with its options.
Result<SignatureFields> read_signature(std::string_view text, const MetricCatalog& catalog);

/// What a key of a metric, or of a run, is about, in words: "stemming" for "stem"; the key itself
/// when it is not known.
std::string key_in_words(std::string_view key, bool of_run = false);

}  // namespace qfs::score
