#include "methods/models/prompted/prompted_session.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/rng.h"

namespace qfs::prompted {

Status PromptedSession::run(std::span<const NumberedExample> unit, PredictionSink& sink) {
  std::vector<PreparedPrompt> prompts;
  std::vector<nn::SequenceInput> inputs;
  std::vector<std::map<std::string, double>> observed;
  std::vector<uint64_t> seeds;
  for (const NumberedExample& numbered : unit) {
    const PromptMaker& maker = model_.prompts.maker;
    const int64_t new_tokens = model_.options.max_new_tokens;
    auto prompt = cuts_to_window_ ? maker.prepare_within(numbered.example, new_tokens,
                                                         std::numeric_limits<int64_t>::max())
                                  : maker.prepare(numbered.example, new_tokens);
    if (!prompt.ok()) return prompt.error();
    inputs.push_back(prompt->input);
    observed.emplace_back();
    if (adapters_) {
      auto addition = adapters_(numbered.example, prompt->input, model_);
      if (!addition.ok()) return addition.error();
      inputs.back().adapters = std::move(addition->adapters);
      if (addition->global_positions) {
        inputs.back().global_positions = *std::move(addition->global_positions);
      }
      observed.back() = std::move(addition->observed);
    }
    prompts.push_back(*std::move(prompt));
    seeds.push_back(Rng::derived(seed_, draws_, static_cast<uint64_t>(numbered.ordinal)).next());
  }
  const auto result = model_.generator.generate(inputs, model_.options, seeds);
  if (!result.ok()) return result.error();
  for (size_t i = 0; i < unit.size(); ++i) {
    sink.emit(unit[i].ordinal, prediction_of(prompts[i], result->rows[i], std::move(observed[i])));
  }
  tell_times(result->times, static_cast<int64_t>(unit.size()), sink);
  return {};
}

}  // namespace qfs::prompted
