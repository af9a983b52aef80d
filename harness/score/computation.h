// A signature as something that can be computed again: a metric with options, and the chain that
// makes its texts.
//
// Called by `score --explain-diff`. A metric's options are found by looking for values that give
// its signature, so a metric needs no second description of what its signature says, and what is
// found is right: its signature is the one that was asked for, field by field. Thread-safe. A
// signature that nothing here gives (data that are absent, another version, an external program) is
// `unavailable` and names the field and why.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/json.h"
#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "harness/score/signature_fields.h"

namespace qfs::score {

struct Computation {
  std::string metric;                          ///< a metric of the catalogue, "rouge-1.5.5"
  std::map<std::string, std::string> options;  ///< those that are not at their defaults
  std::vector<std::string> declared;           ///< all options, in the metric's order
  Json postprocess{"[]"};                      ///< a chain, see Postprocess::of_chain

  /// As --metric takes it: "rouge-1.5.5:stem=on,exceptions=none".
  std::string name() const;
};

Result<Computation> computation_of(const SignatureFields& signature, const MetricCatalog& catalog);

/// Whether a text looks like a signature of a tool whose digits a metric gives:
/// "BLEU|nrefs:1|case:mixed|…|version:2.6.0", with "as sacreBLEU: " before it or not.
bool is_tool_signature(std::string_view text);

/// Such a signature as that of our metric. Which release of the tool it was is a fact of the run.
Result<SignatureFields> read_tool_signature(std::string_view text, const MetricCatalog& catalog);

}  // namespace qfs::score
