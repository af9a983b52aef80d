// evaluate: a whole run of ROUGE-1.5.5 over a configuration, as the lines it would print.
//
// Called by `qfs-bench rouge155`. Reads each file once a system. Instances are resampled in the
// string order of "evaluation.system", so "10" comes before "2". Thread-safe. Errors name the file
// or the switch; other than upstream, a system that no evaluation has is one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "metrics/rouge155/configuration.h"
#include "metrics/rouge155/lexicon.h"
#include "metrics/rouge155/options.h"
#include "metrics/rouge155/resampling.h"

namespace qfs::metrics::rouge155 {

/// -t: what is averaged.
enum class Averaging {
  instances,  ///< 0: the scores of evaluations
  pooled,     ///< 1: recall, precision and F of summed counts
  counts,     ///< 2: the sums themselves, without intervals
};

struct EvaluationOptions {
  Options scoring;
  ResamplingOptions resampling;
  std::string confidence_text = "95";  ///< -c as written
  Averaging averaging = Averaging::instances;
  bool per_instance = false;  ///< -d; with Averaging::instances only
};

struct EvaluationReport {
  std::string lines;
  std::vector<std::string> warnings;  ///< evaluations that lack a system
};

/// `systems`: those to evaluate, in this order.
Result<EvaluationReport> evaluate(const Configuration& configuration,
                                  const std::vector<std::string>& systems,
                                  const EvaluationOptions& options,
                                  std::shared_ptr<const Lexicon> lexicon);

}  // namespace qfs::metrics::rouge155
