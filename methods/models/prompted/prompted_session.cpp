#include "methods/models/prompted/prompted_session.h"

#include <string>
#include <vector>

#include "harness/core/rng.h"
#include "harness/core/utf8.h"

namespace qfs::prompted {

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

}  // namespace

Status PromptedSession::run(std::span<const NumberedExample> unit, PredictionSink& sink) {
  std::vector<PreparedPrompt> prompts;
  std::vector<nn::SequenceInput> inputs;
  std::vector<uint64_t> seeds;
  for (const NumberedExample& numbered : unit) {
    auto prompt = model_.prompts.maker.prepare(numbered.example, model_.options.max_new_tokens);
    if (!prompt.ok()) return prompt.error();
    inputs.push_back(prompt->input);
    if (adapters_) {
      auto adapters = adapters_(prompt->input, model_.generator);
      if (!adapters.ok()) return adapters.error();
      inputs.back().adapters = *std::move(adapters);
    }
    prompts.push_back(*std::move(prompt));
    seeds.push_back(Rng::derived(seed_, draws_, static_cast<uint64_t>(numbered.ordinal)).next());
  }
  const auto result = model_.generator.generate(inputs, model_.options, seeds);
  if (!result.ok()) return result.error();
  for (size_t i = 0; i < unit.size(); ++i) {
    sink.emit(unit[i].ordinal, to_prediction(prompts[i], result->rows[i]));
  }
  tell_times(result->times, static_cast<int64_t>(unit.size()), sink);
  return {};
}

}  // namespace qfs::prompted
