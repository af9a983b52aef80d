#include "methods/models/retrieval/passages.h"

#include <algorithm>
#include <string_view>

#include "methods/models/retrieval/sentences.h"

namespace qfs::retrieval {

std::vector<Passage> make_passages(const Example& example,
                                   const prompting::TruncatedDocument& document, PassageUnit unit,
                                   Script script) {
  std::vector<Passage> passages;
  for (size_t i = 0; i < document.texts.size(); ++i) {
    const ByteSpan& kept = document.ledger.kept[i];
    const Segment& segment = example.document[static_cast<size_t>(kept.segment)];
    const size_t prefix = rendered(segment).size() - segment.text.size();
    const auto begin = static_cast<size_t>(kept.begin);
    const size_t hidden = prefix > begin ? prefix - begin : 0;  // bytes of "speaker: " in the piece
    if (hidden > document.texts[i].size()) continue;            // the cut fell inside the name
    const std::string_view text = std::string_view(document.texts[i]).substr(hidden);
    const std::vector<TextSpan> spans = unit == PassageUnit::sentence
                                            ? split_sentences(text, script)
                                            : std::vector<TextSpan>{{0, text.size()}};
    for (const TextSpan& span : spans) {
      const auto offset = static_cast<int64_t>(begin + hidden);
      passages.push_back({{kept.segment, offset + static_cast<int64_t>(span.begin),
                           offset + static_cast<int64_t>(span.end)},
                          std::string(text.substr(span.begin, span.end - span.begin)),
                          segment.speaker});
    }
  }
  return passages;
}

}  // namespace qfs::retrieval
