#include "methods/retrieve_generate/retriever.h"

#include <algorithm>
#include <utility>

#include "methods/models/ranking/snippets.h"

namespace qfs::retrieve_generate {

namespace {

using retrieval::Passage;

/// Whether nothing but white space parts two passages of one turn.
bool follow(const Passage& first, const Passage& second, const std::vector<Segment>& document) {
  if (first.span.segment != second.span.segment) return false;
  const std::string text = rendered(document[static_cast<size_t>(first.span.segment)]);
  const auto between = std::string_view(text).substr(
      static_cast<size_t>(first.span.end), static_cast<size_t>(second.span.begin - first.span.end));
  return is_blank(between);
}

/// The passages at `chosen` as a document.
prompting::ChangedDocument document_of(const Example& example, std::span<const Passage> passages,
                                       const std::vector<size_t>& chosen) {
  prompting::ChangedDocument changed{example, {}};
  changed.example.document.clear();
  changed.example.evidence.clear();
  for (size_t i = 0; i < chosen.size();) {
    ByteSpan span = passages[chosen[i]].span;
    size_t next = i + 1;
    while (next < chosen.size() &&
           follow(passages[chosen[next - 1]], passages[chosen[next]], example.document)) {
      span.end = passages[chosen[next++]].span.end;
    }
    const Segment& segment = example.document[static_cast<size_t>(span.segment)];
    const auto name = static_cast<int64_t>(rendered(segment).size() - segment.text.size());
    changed.example.document.push_back(
        {segment.text.substr(static_cast<size_t>(span.begin - name),
                             static_cast<size_t>(span.end - span.begin)),
         segment.speaker});
    if (span.begin == name) span.begin = 0;
    changed.origins.emplace_back(span);
    i = next;
  }
  return changed;
}

}  // namespace

Retriever::Retriever(Reach reach, std::shared_ptr<const tokenizers::Tokenizer> counter,
                     std::unique_ptr<retrieval::Selector> selector)
    : reach_(reach), counter_(std::move(counter)), selector_(std::move(selector)) {}

Result<prompting::ChangedDocument> Retriever::retrieve(const Example& example) {
  if (Status status = read(example); !status.ok()) return status.error();
  const auto order = selector_->select(example);
  if (!order.ok()) return order.error();
  std::vector<size_t> chosen;
  int64_t left = reach_.budget;
  for (const size_t index : *order) {
    const Passage& passage = passages_[index];
    left -= counter_->count(rendered({passage.text, passage.speaker}));
    if (left < 0 && !chosen.empty()) break;
    chosen.push_back(index);
  }
  std::ranges::sort(chosen);
  return document_of(example, passages_, chosen);
}

Status Retriever::read(const Example& example) {
  if (!passages_.empty() && example.document == document_) return {};
  passages_.clear();
  const auto whole = prompting::truncate_document(example, *counter_, std::nullopt,
                                                  prompting::TruncationPolicy::head);
  if (!whole.ok()) return whole.error();
  const retrieval::Script script = retrieval::script_of_language(example.language);
  auto passages = retrieval::make_passages(example, *whole, reach_.unit, script);
  std::erase_if(passages, [](const Passage& passage) { return passage.text.empty(); });
  if (std::ranges::all_of(passages, is_blank, &Passage::text)) {
    return data_error("the document of example '" + example.key + "' has no passage to read");
  }
  if (Status status = selector_->prepare(passages, script); !status.ok()) return status;
  passages_ = std::move(passages);
  document_ = example.document;
  return {};
}

}  // namespace qfs::retrieve_generate
