// The lines that ROUGE-1.5.5 prints, byte for byte.
//
// Called by the evaluation of configuration files. Pure; thread-safe. A system's name is printed as
// UTF-8 with control characters made visible; Perl prints names between U+0080 and U+00FF as
// Latin-1, which is the one intended difference.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "metrics/rouge155/resampling.h"
#include "metrics/rouge155/scorer.h"

namespace qfs::metrics::rouge155 {

/// One variant of one system.
struct ReportBlock {
  std::string_view system;
  std::string_view label;       ///< Variant::label
  std::string_view confidence;  ///< -c as written
};

/// A dashed line, then average and interval of recall, precision and F.
std::string format_estimates(const ReportBlock& block, std::span<const Estimate> three);

/// -t 2: a dashed line, then the sums of counts.
std::string format_counts(const ReportBlock& block, const Counts& sums);

struct InstanceScore {
  std::string id;  ///< "evaluation.system"
  Triple triple;
};

/// -d: a dotted line, then one line an instance, ids in numeric order where they begin with digits.
std::string format_instances(const ReportBlock& block, std::span<const InstanceScore> instances);

}  // namespace qfs::metrics::rouge155
