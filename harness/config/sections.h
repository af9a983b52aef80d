// The sections of a sweep file, one decoder each; load.cpp puts them together. Failures go to the
// nodes' scope. Paths are left as written; load.cpp anchors them to the sweep file's folder.
// Used by harness/config only; thread-safe for different scopes.
#pragma once

#include <string>
#include <vector>

#include "harness/api/experiment.h"
#include "harness/config/node.h"

namespace qfs::config {

DatasetEntry decode_dataset(const Node& node);
std::vector<DatasetEntry> decode_datasets(const Node& node);

/// `folder`: where prompt files are looked for.
std::vector<MethodEntry> decode_methods(const Node& node, const std::string& folder);

/// "external_metrics": programs by the name that "metrics" uses.
std::vector<ExternalMetricEntry> decode_external_metrics(const Node& node);

/// Fails for a name that no parameter can have.
void check_parameter_name(const std::string& name, const Node& node);

/// The value of a parameter; `{"file": …}` is read for the parameter `prompt`.
ParamValue decode_parameter(const std::string& name, const Node& node, const std::string& folder);

/// "grid": one group an axis, in the order of names.
std::vector<AxisGroup> decode_grid(const Node& node, const std::string& folder);
/// "zip": one group an item, whose axes advance together.
std::vector<AxisGroup> decode_zip(const Node& node, const std::string& folder);
/// Fails for an axis that is there twice.
void check_axes(const std::vector<AxisGroup>& groups, const Node& root);
/// "include" or "exclude".
std::vector<GridRule> decode_rules(const Node& node, const std::string& folder);

std::vector<uint64_t> decode_seeds(const Node& node);
std::vector<NamedValue> decode_metrics(const Node& node);
/// A chain of Postprocess steps, each of them checked.
std::vector<NamedValue> decode_postprocess(const Node& node);
MeasureSettings decode_measure(const Node& node);
ReportSettings decode_report(const Node& node);
HostLimits decode_limits(const Node& node);
OutOfMemoryPolicy decode_out_of_memory(const Node& node);
HostReuse decode_host_reuse(const Node& node);
/// The name of a sweep: also a file name's stem, hence plain.
std::string decode_sweep_name(const Node& node);

}  // namespace qfs::config
