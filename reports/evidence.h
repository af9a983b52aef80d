// Which segments are gold evidence; EvidenceIndex: how long the gold evidence of each example is,
// segment by segment, read from a store once a data set. Private to reports. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "harness/api/example.h"
#include "harness/api/ids.h"
#include "harness/api/prediction.h"
#include "harness/api/result.h"
#include "harness/store/reader.h"

namespace qfs::reports {

/// The segments of an example's gold evidence that a document of `count` segments has, ascending,
/// each once.
std::set<int64_t> evidence_segments(const Example& example, size_t count);

struct EvidenceSegment {
  int64_t segment = 0;
  int64_t bytes = 0;  ///< of its rendered text
};

class EvidenceIndex {
 public:
  explicit EvidenceIndex(store::Reader& reader) : reader_(reader) {}

  /// The evidence segments of an example, ascending, each once; empty where it has none or where
  /// the store does not keep the document.
  Result<std::vector<EvidenceSegment>> of(const DatasetId& dataset, int64_t ordinal);

 private:
  store::Reader& reader_;
  std::map<std::pair<DatasetId, int64_t>, std::vector<EvidenceSegment>> known_;
};

/// Bytes of this evidence that are inside the kept spans of a document.
int64_t kept_bytes(const std::vector<EvidenceSegment>& evidence, const Truncation& truncation);

}  // namespace qfs::reports
