#include "methods/extractive/extractive_session.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "methods/extractive/word_limit.h"
#include "methods/models/prompting/truncation.h"
#include "methods/models/tokenizers/folders/open_tokenizer.h"

namespace qfs::extractive {
namespace {

using prompting::TruncationPolicy;
using tokenizers::Tokenizer;

struct Limits {
  std::optional<int64_t> local_context;
  TruncationPolicy policy = TruncationPolicy::head;
  std::optional<int64_t> max_words;
  std::optional<retrieval::Script> script;  ///< absent: by the example's language
};

/// A passage that goes into the summary, possibly shortened.
struct Taken {
  ByteSpan span;
  std::string_view text;
};

struct Summary {
  std::vector<Taken> passages;  ///< in document order
  bool limited = false;         ///< the word limit left something out
};

Summary take(std::span<const retrieval::Passage> passages, const std::vector<size_t>& order,
             std::optional<int64_t> max_words, retrieval::Script script) {
  std::vector<std::pair<size_t, std::string_view>> chosen;
  Summary summary;
  int64_t words_left = max_words.value_or(0);
  for (size_t index : order) {
    std::string_view text = passages[index].text;
    if (max_words) {
      if (words_left == 0) {
        summary.limited = true;
        break;
      }
      const std::string_view shortened = first_words(text, words_left, script);
      summary.limited = shortened.size() < text.size();
      text = shortened;
      words_left -= count_words(text, script);
    }
    chosen.emplace_back(index, text);
    if (summary.limited) break;
  }
  std::sort(chosen.begin(), chosen.end());
  for (const auto& [index, text] : chosen) {
    ByteSpan span = passages[index].span;
    span.end = span.begin + static_cast<int64_t>(text.size());
    summary.passages.push_back({span, text});
  }
  return summary;
}

/// {"selected":[[segment,begin,end],…]}, which is canonical as it stands.
Json selected_spans(const Summary& summary) {
  std::string text = R"({"selected":[)";
  for (const Taken& taken : summary.passages) {
    if (&taken != &summary.passages.front()) text += ',';
    text += '[' + std::to_string(taken.span.segment) + ',' + std::to_string(taken.span.begin) +
            ',' + std::to_string(taken.span.end) + ']';
  }
  return Json{text + "]}"};
}

class ExtractiveSession final : public MethodSession {
 public:
  ExtractiveSession(Limits limits, retrieval::PassageUnit unit,
                    std::shared_ptr<const Tokenizer> tokenizer,
                    std::unique_ptr<retrieval::Selector> selector)
      : limits_(limits),
        unit_(unit),
        tokenizer_(std::move(tokenizer)),
        selector_(std::move(selector)) {}

  Status run(std::span<const NumberedExample> unit, PredictionSink& sink) override {
    for (const NumberedExample& numbered : unit) {
      Result<Prediction> prediction = summarize(numbered.example);
      if (!prediction.ok()) return prediction.error();
      sink.emit(numbered.ordinal, *std::move(prediction));
    }
    return {};
  }

 private:
  Result<Prediction> summarize(const Example& example) {
    const retrieval::Script script =
        limits_.script.value_or(retrieval::script_of_language(example.language));
    if (Status status = read(example, script); !status.ok()) return status.error();
    const Result<std::vector<size_t>> order = selector_->select(example);
    if (!order.ok()) return order.error();
    const Summary summary = take(passages_, *order, limits_.max_words, script);

    Prediction prediction;
    for (const Taken& taken : summary.passages) {
      if (!prediction.text.empty()) prediction.text += '\n';
      prediction.text += taken.text;
    }
    prediction.finish = summary.limited ? FinishReason::length : FinishReason::stop;
    prediction.tokens_out = tokenizer_->count(prediction.text);
    prediction.truncation = ledger_;
    prediction.truncation->query_tokens = tokenizer_->count(example.query);
    prediction.extra = selected_spans(summary);
    return prediction;
  }

  /// Cuts and splits the document, unless it is the one of the example before.
  Status read(const Example& example, retrieval::Script script) {
    if (is_read_ && script == script_ && example.document == document_) return {};
    is_read_ = false;
    Result<prompting::TruncatedDocument> truncated =
        prompting::truncate_document(example, *tokenizer_, limits_.local_context, limits_.policy);
    if (!truncated.ok()) return truncated.error();
    passages_ = retrieval::make_passages(example, *truncated, unit_, script);
    ledger_ = std::move(truncated->ledger);
    if (Status status = selector_->prepare(passages_, script); !status.ok()) return status;
    document_ = example.document;
    script_ = script;
    is_read_ = true;
    return {};
  }

  Limits limits_;
  retrieval::PassageUnit unit_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::unique_ptr<retrieval::Selector> selector_;
  bool is_read_ = false;
  std::vector<Segment> document_;
  retrieval::Script script_ = retrieval::Script::latin;
  Truncation ledger_;
  std::vector<retrieval::Passage> passages_;
};

}  // namespace

Result<std::unique_ptr<MethodSession>> open_extractive_session(
    const SessionRequest& request, ResourceCache& cache, retrieval::PassageUnit unit,
    std::unique_ptr<retrieval::Selector> selector) {
  if (!request.tokenizer) {
    return invalid_argument("an extractive method counts document tokens and needs a tokenizer");
  }
  auto tokenizer = tokenizers::open_tokenizer(*request.tokenizer, cache);
  if (!tokenizer.ok()) return tokenizer.error();

  const std::string& policy_name = request.params.get<std::string>("truncate");
  const std::optional<TruncationPolicy> policy = prompting::truncation_policy_from(policy_name);
  if (!policy) return invalid_argument("unknown truncation policy '" + policy_name + "'");
  Limits limits{request.params.find<int64_t>("local_context"), *policy,
                request.params.find<int64_t>("max_words"), std::nullopt};
  if (const auto name = request.params.find<std::string>("script")) {
    limits.script = retrieval::script_from(*name);
    if (!limits.script) return invalid_argument("unknown script '" + *name + "'");
  }
  return std::unique_ptr<MethodSession>(std::make_unique<ExtractiveSession>(
      limits, unit, *std::move(tokenizer), std::move(selector)));
}

}  // namespace qfs::extractive
