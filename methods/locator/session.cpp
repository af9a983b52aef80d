#include "methods/locator/session.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "methods/models/prompting/truncation.h"
#include "methods/models/ranking/locator.h"
#include "methods/models/ranking/snippets.h"
#include "methods/models/retrieval/passages.h"
#include "methods/models/tokenizers/folders/open_tokenizer.h"

namespace qfs::locator {

namespace {

using retrieval::Passage;

/// A turn that is written, as far as it fits.
struct Taken {
  size_t passage = 0;
  std::string text;
  int64_t tokens = 0;
};

class LocatorSession final : public MethodSession {
 public:
  LocatorSession(int64_t room, bool evidence_facts,
                 std::shared_ptr<const tokenizers::Tokenizer> counter,
                 std::unique_ptr<ranking::Locator> locator)
      : room_(room),
        evidence_facts_(evidence_facts),
        counter_(std::move(counter)),
        locator_(std::move(locator)) {}

  Status run(std::span<const NumberedExample> unit, PredictionSink& sink) override {
    for (const NumberedExample& numbered : unit) {
      auto prediction = predict(numbered.example);
      if (!prediction.ok()) return prediction.error();
      sink.emit(numbered.ordinal, *std::move(prediction));
    }
    return {};
  }

 private:
  Result<Prediction> predict(const Example& example) {
    const auto whole = prompting::truncate_document(example, *counter_, std::nullopt,
                                                    prompting::TruncationPolicy::head);
    if (!whole.ok()) return whole.error();
    const retrieval::Script script = retrieval::script_of_language(example.language);
    const std::vector<Passage> turns =
        retrieval::make_passages(example, *whole, retrieval::PassageUnit::turn, script);
    if (Status read = locator_->prepare(turns, script); !read.ok()) return read.error();
    const auto order = locator_->select(example);
    if (!order.ok()) return order.error();
    const auto taken = take(turns, *order);
    if (!taken.ok()) return taken.error();

    Prediction prediction;
    Truncation ledger;
    ledger.document_tokens = whole->ledger.document_tokens;
    ledger.query_tokens = whole->ledger.query_tokens;
    nlohmann::json facts = {{"turns", nlohmann::json::array()},
                            {"visible_turns", locator_->seen().visible},
                            {"unseen_turns", locator_->seen().unseen},
                            {"cut_by_locator", locator_->seen().cut}};
    bool cut = taken->size() < order->size();
    for (const Taken& one : *taken) {
      ByteSpan span = turns[one.passage].span;
      cut = cut || one.text.size() < turns[one.passage].text.size();
      span.end = span.begin + static_cast<int64_t>(one.text.size());
      ledger.kept.push_back(span);
      ledger.kept_tokens += one.tokens;
      facts["turns"].push_back(span.segment);
      if (!prediction.text.empty()) prediction.text += '\n';
      prediction.text += one.text;
    }
    if (evidence_facts_) {
      const Status told = tell_evidence(example, ledger.kept, facts["observed"]);
      if (!told.ok()) return told.error();
    }
    prediction.finish = cut ? FinishReason::length : FinishReason::stop;
    prediction.tokens_out = counter_->count(prediction.text);
    prediction.truncation = std::move(ledger);
    prediction.extra = {facts.dump()};
    return prediction;
  }

  /// By rank until the room is full, in document order.
  Result<std::vector<Taken>> take(const std::vector<Passage>& turns,
                                  const std::vector<size_t>& order) const {
    std::vector<Taken> taken;
    int64_t left = room_;
    for (const size_t i : order) {
      if (left == 0) break;
      Taken one{i, turns[i].text, counter_->count(turns[i].text)};
      if (one.tokens > left) {
        Example alone;
        alone.document = {{one.text, ""}};
        auto begun =
            prompting::truncate_document(alone, *counter_, left, prompting::TruncationPolicy::head);
        if (!begun.ok()) return begun.error();
        left = 0;
        if (begun->texts.empty()) break;
        one = {i, begun->texts.front(), begun->ledger.kept_tokens};
      } else {
        left -= one.tokens;
      }
      taken.push_back(std::move(one));
    }
    std::ranges::sort(taken, {}, &Taken::passage);
    return taken;
  }

  /// Which share of what is written is evidence, and of the evidence is written; of turns, one that
  /// is cut as well. Of an example without evidence there is none.
  static Status tell_evidence(const Example& example, const std::vector<ByteSpan>& kept,
                              nlohmann::json& observed) {
    const auto list = ranking::evidence_segments(example);
    if (!list.ok()) return list.error();
    const std::set<int64_t> gold(list->begin(), list->end());
    const auto hits = std::ranges::count_if(
        kept, [&](const ByteSpan& span) { return gold.contains(span.segment); });
    observed = {{"evidence_turns", gold.size()}};
    if (gold.empty()) return {};
    observed["evidence_recall"] = static_cast<double>(hits) / static_cast<double>(gold.size());
    if (!kept.empty()) {
      observed["evidence_precision"] = static_cast<double>(hits) / static_cast<double>(kept.size());
    }
    return {};
  }

  int64_t room_;
  bool evidence_facts_;
  std::shared_ptr<const tokenizers::Tokenizer> counter_;
  std::unique_ptr<ranking::Locator> locator_;
};

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache) {
  if (!request.tokenizer) return invalid_argument("a locator counts tokens and needs a tokenizer");
  auto counter = tokenizers::open_tokenizer(*request.tokenizer, cache);
  if (!counter.ok()) return counter.error();
  auto locator = ranking::Locator::open(request, cache);
  if (!locator.ok()) return locator.error();
  return std::unique_ptr<MethodSession>(
      std::make_unique<LocatorSession>(request.params.get<int64_t>("local_context"),
                                       request.params.find<bool>("evidence_facts").value_or(false),
                                       *std::move(counter), *std::move(locator)));
}

}  // namespace

SessionFactory session_factory() { return {"locator", &open, &open_training}; }

}  // namespace qfs::locator
