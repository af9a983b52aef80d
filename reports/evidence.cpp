#include "reports/evidence.h"

#include <algorithm>
#include <utility>

namespace qfs::reports {

std::set<int64_t> evidence_segments(const Example& example, size_t count) {
  std::set<int64_t> segments;
  const int64_t last = static_cast<int64_t>(count) - 1;
  for (const SegmentSpan& span : example.evidence) {
    for (int64_t i = std::max<int64_t>(span.first, 0); i <= std::min(span.last, last); ++i) {
      segments.insert(i);
    }
  }
  return segments;
}

Result<std::vector<EvidenceSegment>> EvidenceIndex::of(const DatasetId& dataset, int64_t ordinal) {
  const auto key = std::make_pair(dataset, ordinal);
  if (auto it = known_.find(key); it != known_.end()) return it->second;

  std::vector<EvidenceSegment>& evidence = known_[key];
  Result<Example> example = reader_.example(dataset, ordinal);
  if (!example) {
    if (example.error().kind == ErrorKind::unavailable) return evidence;
    return example.error();
  }
  for (int64_t i : evidence_segments(*example, example->document.size())) {
    const std::string text = rendered(example->document[static_cast<size_t>(i)]);
    evidence.push_back({i, static_cast<int64_t>(text.size())});
  }
  return evidence;
}

int64_t kept_bytes(const std::vector<EvidenceSegment>& evidence, const Truncation& truncation) {
  int64_t kept = 0;
  for (const EvidenceSegment& segment : evidence) {
    for (const ByteSpan& span : truncation.kept) {
      if (span.segment != segment.segment) continue;
      kept += std::max<int64_t>(
          0, std::min(span.end, segment.bytes) - std::max<int64_t>(0, span.begin));
    }
  }
  return kept;
}

}  // namespace qfs::reports
