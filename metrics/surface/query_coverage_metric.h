// QueryCoverage: the share of the query's content terms (metrics/surface/query_terms.h) that the
// prediction has.
//
// Called by scoring through the catalogue as "query-coverage". An empty prediction has none of them
// and gets 0; an example without a query is an error. Thread-safe.
#pragma once

#include "metrics/surface/surface_metric.h"

namespace qfs::metrics {

class QueryCoverage final : public SurfaceMetric {
 public:
  QueryCoverage(std::string name, LogitsProcessors rules, bool stem)
      : SurfaceMetric(std::move(name), std::move(rules)), stem_(stem) {}
  std::string_view doc() const override;
  std::vector<std::string> columns() const override { return {"query_coverage"}; }
  std::string signature() const override;
  MetricNeeds needs() const override { return {.references = false, .query = true}; }

 protected:
  Result<Statistics> row(const ScoreItem& item, const Words& words,
                         const TokenEncoder& encoder) const override;

 private:
  bool stem_;
};

}  // namespace qfs::metrics
