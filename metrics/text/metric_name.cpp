#include "metrics/text/metric_name.h"

namespace qfs::metrics {

std::string name_with_options(const std::string& metric, const std::vector<MetricOption>& options,
                              const MetricOptionValues& values) {
  std::string name = metric;
  char separator = ':';
  for (const MetricOption& option : options) {
    const std::string& value = values.text(option.name);
    if (value == option.default_value) continue;
    name += separator + option.name + "=";
    for (char c : value) {
      if (c == ',') name += '\\';
      name += c;
    }
    separator = ',';
  }
  return name;
}

}  // namespace qfs::metrics
