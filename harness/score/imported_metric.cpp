#include "harness/score/imported_metric.h"

#include <utility>

namespace qfs::score {

ImportedMetric::ImportedMetric(const std::string& metric, std::vector<std::string> columns,
                               const std::string& tool, const std::string& source)
    : name_(std::string(kImportPrefix) + metric),
      columns_(std::move(columns)),
      signature_("import|metric:" + metric + "|tool:" + tool + "|source:sha256-" + source +
                 "|agg:mean|v:1") {}

Result<std::vector<Statistics>> ImportedMetric::measure(std::span<const ScoreItem>) const {
  return unavailable(name_ + " was imported; only the program that measured it can measure more");
}

}  // namespace qfs::score
