#include "methods/models/prompted/changed_session.h"

#include <map>
#include <utility>
#include <vector>

namespace qfs::prompted {

namespace {

using prompting::ChangedDocument;

/// Passes predictions on, with the ledgers of the documents as they were.
class OriginalLedgers final : public PredictionSink {
 public:
  OriginalLedgers(const tokenizers::Tokenizer& counter, PredictionSink& outer)
      : counter_(counter), outer_(outer) {}

  void expect(const NumberedExample& original, ChangedDocument changed) {
    changed_.emplace(original.ordinal, std::pair(&original.example, std::move(changed)));
  }
  void emit(int64_t ordinal, Prediction prediction) override {
    const auto& [original, changed] = changed_.at(ordinal);
    if (!changed.origins.empty() && prediction.truncation) {
      prediction.truncation =
          ledger_of_original(*prediction.truncation, changed, *original, counter_);
    } else if (changed.example.document != original->document) {
      prediction.truncation.reset();
    }
    outer_.emit(ordinal, std::move(prediction));
  }
  void phase(const Phase& phase) override { outer_.phase(phase); }

 private:
  const tokenizers::Tokenizer& counter_;
  PredictionSink& outer_;
  std::map<int64_t, std::pair<const Example*, ChangedDocument>> changed_;
};

class ChangedSession final : public MethodSession {
 public:
  ChangedSession(ChangeDocument change, std::shared_ptr<const tokenizers::Tokenizer> counter,
                 std::unique_ptr<MethodSession> inner)
      : change_(std::move(change)), counter_(std::move(counter)), inner_(std::move(inner)) {}

  Status run(std::span<const NumberedExample> unit, PredictionSink& sink) override {
    OriginalLedgers ledgers(*counter_, sink);
    std::vector<NumberedExample> read;
    for (const NumberedExample& one : unit) {
      auto changed = change_(one.example);
      if (!changed.ok()) return changed.error();
      read.push_back({one.ordinal, changed->example});
      ledgers.expect(one, *std::move(changed));
    }
    return inner_->run(read, ledgers);
  }
  Result<std::optional<MachineLimits>> measure_limits() override {
    return inner_->measure_limits();
  }

 private:
  ChangeDocument change_;
  std::shared_ptr<const tokenizers::Tokenizer> counter_;
  std::unique_ptr<MethodSession> inner_;
};

}  // namespace

std::unique_ptr<MethodSession> changed_session(ChangeDocument change,
                                               std::shared_ptr<const tokenizers::Tokenizer> counter,
                                               std::unique_ptr<MethodSession> inner) {
  return std::make_unique<ChangedSession>(std::move(change), std::move(counter), std::move(inner));
}

Result<TrainingData> changed_data(const ChangeDocument& change, const TrainingData& data) {
  TrainingData result;
  for (const auto& [from, to] :
       {std::pair{&data.train, &result.train}, std::pair{&data.development, &result.development}}) {
    for (const NumberedExample& one : *from) {
      auto changed = change(one.example);
      if (!changed.ok()) return changed.error();
      to->push_back({one.ordinal, std::move(changed->example)});
    }
  }
  return result;
}

}  // namespace qfs::prompted
