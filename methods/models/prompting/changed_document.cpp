#include "methods/models/prompting/changed_document.h"

#include <algorithm>
#include <string>

namespace qfs::prompting {

namespace {

/// Where bytes of a changed segment stand in the original; empty: they are the speaker's name,
/// which stands in front of a text that is not the segment's first.
ByteSpan in_original(const ByteSpan& kept, const Segment& changed, const ByteSpan& origin) {
  if (origin.begin == 0) return {origin.segment, kept.begin, kept.end};
  const auto name = static_cast<int64_t>(rendered(changed).size() - changed.text.size());
  const auto place = [&](int64_t byte) { return origin.begin + std::max<int64_t>(byte - name, 0); };
  return {origin.segment, place(kept.begin), place(kept.end)};
}

}  // namespace

Truncation ledger_of_original(const Truncation& of_changed, const ChangedDocument& changed,
                              const Example& original, const tokenizers::Tokenizer& counter) {
  Truncation ledger;
  ledger.query_whole = of_changed.query_whole;
  ledger.query_tokens = counter.count(original.query);
  for (const Segment& segment : original.document) {
    ledger.document_tokens += counter.count(rendered(segment));
  }
  for (const ByteSpan& kept : of_changed.kept) {
    const auto j = static_cast<size_t>(kept.segment);
    if (!changed.origins[j]) continue;
    const ByteSpan span = in_original(kept, changed.example.document[j], *changed.origins[j]);
    if (span.begin == span.end && kept.begin < kept.end) continue;
    ledger.kept.push_back(span);
    const std::string text = rendered(original.document[static_cast<size_t>(span.segment)]);
    ledger.kept_tokens += counter.count(std::string_view(text).substr(
        static_cast<size_t>(span.begin), static_cast<size_t>(span.end - span.begin)));
  }
  return ledger;
}

}  // namespace qfs::prompting
