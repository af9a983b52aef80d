// Experiment: a sweep file after decoding, typed and with every default written out, before names
// are looked up. Made by harness/config, consumed by harness/plan and harness/run. Plain data.
//
// Every part that a later stage can reject carries the JSON pointer it came from, so that an error
// about a method or a range still points into the user's file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/api/dataset.h"
#include "harness/api/json.h"
#include "harness/api/params.h"

namespace qfs {

/// A value of the sweep file with its place.
struct NamedValue {
  std::string name;
  ParamValue value;
  std::string pointer;    ///< "/methods/3/max_new_tokens"
  std::string file = {};  ///< that a text was read from; empty: it stands in the sweep file
};

/// Keys of a method's entry that are no parameters, which none may be named as.
inline constexpr std::string_view kEntryKeys[] = {"artifact", "backbone", "backbones", "documents",
                                                  "label",    "method",   "tokenizer", "training"};

/// A method that is the user's own program.
struct ExternalCommand {
  std::vector<std::string> command;  ///< argv, no shell; not part of any id
  std::vector<std::string>
      fingerprint;     ///< glob patterns, relative to `folder`, of files it rests on
  std::string folder;  ///< working directory; the sweep file's folder by default

  friend bool operator==(const ExternalCommand&, const ExternalCommand&) = default;
};

struct DatasetEntry {
  DatasetRequest request;
  std::optional<int64_t> sample;  ///< that many examples, chosen by hash; absent: all
  std::string pointer;
  bool drawn_by_seed = false;  ///< of a training: each seed has a sample of its own
};

/// What a method learns from and is chosen by, where that is not the other splits of the data set
/// that a cell predicts for.
struct TrainingEntry {
  DatasetEntry train;
  std::optional<DatasetEntry> development;
  /// Trained files to begin with, as MethodEntry::artifacts.
  std::map<std::string, std::string> init = {};
  /// By role, the row of the sweep whose training makes what it begins with.
  std::map<std::string, std::string> init_rows = {};
};

/// Whose document each example is given: the controls that tell reading from having learned length
/// and tone.
enum class Documents {
  own,
  other,             ///< another example's
  other_memory,      ///< its own, but what is read as memory is of another example's
  other_instruction  ///< its own, but what makes weights is another example's query
};
inline constexpr std::string_view kDocuments[] = {"own", "other", "other_memory",
                                                  "other_instruction"};

struct MethodEntry {
  std::string method;
  std::string label;  ///< row name in tables; empty: the method's name
  std::optional<std::string> backbone;
  std::map<std::string, std::string> backbones = {};  ///< further models by role
  std::optional<std::string> tokenizer;               ///< overrides the sweep's
  std::optional<ExternalCommand> external;
  Documents documents = Documents::own;
  std::optional<TrainingEntry> training;
  /// Trained files by role, in place of training; an empty role is the method's only one.
  std::map<std::string, std::string> artifacts;
  /// By role, the row of the sweep whose training makes it.
  std::map<std::string, std::string> artifact_rows = {};
  std::vector<NamedValue> params;  ///< given ones only; defaults are added when planning
  std::string pointer;
};

struct GridAxis {
  std::string name;
  std::vector<ParamValue> values;
  std::string pointer;
};

/// Axes that advance together (equal lengths), as one dimension of the grid. A plain axis is a
/// group of one.
struct AxisGroup {
  std::vector<GridAxis> axes;
};

/// One entry of `include` or `exclude`: conditions on `method`, `dataset`, `seed` and parameters.
/// As an exclusion it removes the cells it matches; as an inclusion it adds one combination.
struct GridRule {
  std::vector<NamedValue> values;
  std::string pointer;
};

struct MeasureSettings {
  int64_t examples = 4;
  int64_t warmup = 1;  ///< units run before the clock starts
  int64_t repetitions = 3;
  std::string protocol = "as_generated";  ///< or "fixed_n": end tokens ignored
  std::string pointer;
};

/// Among the column axes of a table: the values themselves stand side by side at this level.
inline constexpr const char* kValuesAxis = "values";

struct TableSettings {
  std::vector<std::string> rows = {"method"};
  std::vector<std::string> columns;
  std::vector<std::string> values;
  bool coverage = false;  ///< a line on truncation under the table
  std::string pointer;
};

/// A table of some cells, with words above it.
struct PageSection : TableSettings {
  std::string title;
  std::string text;
  std::string filter;   ///< as --filter; empty: all cells
  std::string against;  ///< the row that others are tested against; empty: none
  bool minus = false;   ///< it minus the others stands in the place of their scores
};

/// The table of a sweep, and further ones of the same store that make a page.
struct ReportSettings : TableSettings {
  std::vector<PageSection> page;
};

/// Limits that the driver enforces on hosts; 0 means none.
struct HostLimits {
  int64_t open_seconds = 300;
  int64_t unit_seconds = 1800;
  int64_t cell_seconds = 0;
  int64_t memory_bytes = 0;         ///< anonymous resident memory of a host
  int64_t device_memory_bytes = 0;  ///< what its allocator may take of a device
};

/// What follows when a cell runs out of memory.
struct OutOfMemoryPolicy {
  /// Cells that differ from it in nothing but a larger value of this parameter are not run; empty:
  /// they are.
  std::string implied_by;
  bool halve_batch = false;  ///< it runs again with half its batch_size, down to 1
  std::string pointer;
};

/// A metric that is the user's own program.
struct ExternalMetricEntry {
  std::string name;  ///< as in "metrics"
  ExternalCommand external;
  int64_t timeout_seconds = 600;  ///< of one batch of items
  std::string pointer;
};

enum class HostReuse { none, weights };

struct Experiment {
  std::string path;  ///< of the sweep file, for messages; never part of an id
  std::string name;
  std::string description;
  std::map<std::string, std::string> variables;  ///< after --set
  std::vector<DatasetEntry> datasets;
  std::optional<std::string> tokenizer;  ///< for methods that count tokens and have no backbone
  std::vector<MethodEntry> methods;
  std::vector<AxisGroup> grid;
  std::vector<GridRule> include;
  std::vector<GridRule> exclude;
  std::vector<uint64_t> seeds = {0};
  std::vector<NamedValue> metrics;      ///< value: the metric's name with options
  std::vector<NamedValue> postprocess;  ///< name: the step's; value: with its parameters
  std::vector<ExternalMetricEntry> external_metrics;
  std::optional<MeasureSettings> measure;
  std::optional<ReportSettings> report;
  HostLimits limits;
  std::optional<OutOfMemoryPolicy> out_of_memory;
  HostReuse host_reuse = HostReuse::weights;
  int threads = 0;  ///< intra-op threads of hosts; 0: the machine's cores, resolved by run
  bool store_documents = true;
  Json resolved;  ///< canonical form of all the above, stored with the sweep
};

}  // namespace qfs
