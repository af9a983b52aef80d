#include "metrics/rouge/rouge_entry.h"

#include <memory>

#include "metrics/rouge/rouge_metric.h"

namespace qfs::metrics {
namespace {

Result<std::shared_ptr<const Metric>> make(const MetricOptionValues& values) {
  RougeOptions options;
  options.stem = values.on("stem");
  return std::shared_ptr<const Metric>(std::make_shared<RougeMetric>(options));
}

}  // namespace

MetricEntry rouge_entry() {
  MetricEntry entry;
  entry.name = "rouge";
  entry.aliases = {{"rouge_score", "", "the Python package"},
                   {"rouge_score-0.1.2", "", "the Python package in this version"}};
  entry.options = {flag_option("stem", true, "NLTK's Porter stemmer (use_stemmer)")};
  entry.make = make;
  return entry;
}

}  // namespace qfs::metrics
