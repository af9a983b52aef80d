#include "methods/zero_shot/session.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/rng.h"
#include "harness/core/utf8.h"
#include "methods/zero_shot/session_model.h"

namespace qfs::zero_shot {

namespace {

Prediction to_prediction(const PreparedPrompt& prompt, const decoding::Generated& generated) {
  RepairedText repaired = repair_utf8(generated.text);
  Prediction prediction;
  prediction.text = std::move(repaired.text);
  prediction.repaired_bytes = repaired.replaced_bytes;
  prediction.finish = generated.finish;
  prediction.tokens_in = static_cast<int64_t>(prompt.input.ids.size());
  prediction.tokens_out = static_cast<int64_t>(generated.ids.size());
  prediction.truncation = prompt.ledger;
  prediction.prompt = prompt.text;
  if (generated.shared_tokens > 0) {
    prediction.extra = {R"({"observed":{"shared_prefix_tokens":)" +
                        std::to_string(generated.shared_tokens) + "}}"};
  }
  return prediction;
}

class ZeroShotSession final : public MethodSession {
 public:
  ZeroShotSession(uint64_t seed, PromptedModel model) : seed_(seed), model_(std::move(model)) {}

  Status run(std::span<const NumberedExample> unit, PredictionSink& sink) override {
    std::vector<PreparedPrompt> prompts;
    std::vector<nn::SequenceInput> inputs;
    std::vector<uint64_t> seeds;
    for (const NumberedExample& numbered : unit) {
      auto prompt = model_.maker.prepare(numbered.example, model_.options.max_new_tokens);
      if (!prompt.ok()) return prompt.error();
      inputs.push_back(prompt->input);
      prompts.push_back(*std::move(prompt));
      seeds.push_back(
          Rng::derived(seed_, "zero_shot", static_cast<uint64_t>(numbered.ordinal)).next());
    }
    const auto result = model_.generator.generate(inputs, model_.options, seeds);
    if (!result.ok()) return result.error();
    for (size_t i = 0; i < unit.size(); ++i) {
      sink.emit(unit[i].ordinal, to_prediction(prompts[i], result->rows[i]));
    }
    tell_times(result->times, static_cast<int64_t>(unit.size()), sink);
    return {};
  }

  Result<std::optional<MachineLimits>> measure_limits() override {
    return zero_shot::measure_limits(model_);
  }

 private:
  uint64_t seed_;
  PromptedModel model_;
};

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache) {
  auto model = open_prompted_model(request, cache);
  if (!model.ok()) return model.error();
  return std::unique_ptr<MethodSession>(
      std::make_unique<ZeroShotSession>(request.seed, *std::move(model)));
}

}  // namespace

SessionFactory session_factory() { return {"zero_shot", &open}; }

}  // namespace qfs::zero_shot
