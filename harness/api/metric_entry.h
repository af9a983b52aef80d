// MetricEntry: how a metric announces itself to the catalogue: name, other names, options, factory.
//
// Made by one `…_entry()` function in each metric's folder and listed in metrics/catalog.cpp; read
// by `list metrics` and by the catalogue, which parses options, checks them against what is
// declared here and words every message. A factory therefore sees valid values only and returns an
// error just for what a declaration cannot say (a file that is absent, a combination that does not
// exist). Values; thread-safe once made.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"

namespace qfs {

struct MetricOption {
  enum class Type { choice, integer, real, text };

  std::string name;  ///< as in "metric:name=value"
  Type type = Type::choice;
  std::vector<std::string> choices;  ///< of a choice; of a text: the accepted forms, for people
  std::string default_value;         ///< as a user would write it; may be empty for a text
  std::string doc;                   ///< one line
  int64_t minimum = INT64_MIN;       ///< of an integer
  int64_t maximum = INT64_MAX;
};

/// "name=on|off".
MetricOption flag_option(std::string name, bool default_value, std::string doc);

/// One of `choices`, the first when it is left out.
MetricOption choice_option(std::string name, std::vector<std::string> choices, std::string doc);

/// The values of a metric's declared options, defaults filled in.
class MetricOptionValues {
 public:
  explicit MetricOptionValues(std::map<std::string, std::string, std::less<>> values)
      : values_(std::move(values)) {}

  /// The name must be declared.
  const std::string& text(std::string_view name) const;
  bool on(std::string_view name) const { return text(name) == "on"; }
  int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

/// Another name of a metric, possibly with options set: {"covidet", "stem=off"}.
struct MetricAlias {
  std::string name;
  std::string options;  ///< "option=value,…", as a user would write them; may be overridden
  std::string doc;      ///< whose name this is
};

struct MetricEntry {
  std::string name;
  std::vector<MetricAlias> aliases;
  std::vector<MetricOption> options;
  std::function<Result<std::shared_ptr<const Metric>>(const MetricOptionValues&)> make;
};

/// An entry as `list metrics` shows it.
struct MetricInfo {
  MetricEntry entry;
  std::shared_ptr<const Metric> metric;  ///< with default options; nullptr when those cannot be met
};

}  // namespace qfs
