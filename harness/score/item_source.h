// ItemSource: what a metric needs to know about an example besides the candidate, from the store
// or, where the store keeps hashes only, from the data set itself. Used by Scorer; not thread-safe.
// Texts are read once a data set and kept, documents are read when a metric needs them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "harness/api/dataset.h"
#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "harness/core/postprocess.h"
#include "harness/store/reader.h"

namespace qfs::score {

/// The chain over the candidate and, where a step says so, the references; errors name the text.
Status apply(const Postprocess& chain, ScoreItem& item);

class ItemSource {
 public:
  explicit ItemSource(store::Reader& reader) : reader_(reader) {}

  /// `data` unless the store has this data set with the same examples.
  Status use_dataset(std::shared_ptr<const Dataset> dataset);

  /// The item of an example without its candidate. `unavailable` when a text that the metric needs
  /// is neither in the store nor in a data set that was given.
  Result<ScoreItem> item(const DatasetId& dataset, int64_t ordinal, const MetricNeeds& needs);

 private:
  Result<Example> read(const DatasetId& dataset, int64_t ordinal, bool with_document);

  store::Reader& reader_;
  std::map<DatasetId, std::shared_ptr<const Dataset>> given_;
  std::map<DatasetId, std::map<int64_t, Example>> known_;  ///< without documents
};

}  // namespace qfs::score
