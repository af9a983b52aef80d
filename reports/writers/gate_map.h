// A heat map of how an output's gate weighed its snippets, as an SVG with the numbers that say the
// same (DYLE, Mao et al. 2022, figure 4).
//
// Called by the command line on what an output keeps (`extra` of method `dyle` with `gate_map`).
// Pure functions, thread-safe; equal maps give equal bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/result.h"

namespace qfs::reports {

struct GateMap {
  std::vector<std::vector<double>> steps;  ///< of each, weights of the snippets with the sum 1
  std::vector<double> extractor;           ///< the extractor's weights of the snippets
  std::vector<int64_t> snippets;           ///< their places in the document, copies left out
};

/// `not_found`: no map is kept there; `data`: members of other kinds or sizes, weights that are no
/// shares.
Result<GateMap> read_gate_map(const std::string& extra);

struct GateNumbers {
  double entropy = 0;     ///< of a step's weights, mean; natural logarithm
  double top_three = 0;   ///< share of a step's three largest weights, mean
  double divergence = 0;  ///< of the mean weights from the extractor's, KL, those at least 1e-5
};
GateNumbers numbers_of(const GateMap& map);

/// "mean entropy 1.09 of at most 1.61, …"
std::string gate_text(const GateMap& map);

/// Snippets from left to right, the best by the extractor first, the extractor's own weights in the
/// first row; steps downwards; darker is more, in sixteen shades. `title` may be any text.
std::string write_gate_svg(const GateMap& map, const std::string& title);

}  // namespace qfs::reports
