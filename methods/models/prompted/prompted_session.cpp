#include "methods/models/prompted/prompted_session.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/rng.h"

namespace qfs::prompted {

namespace {

void step_behind_shortest(std::vector<nn::SequenceInput>& inputs) {
  const auto length = [](const nn::SequenceInput& input) { return input.ids.size(); };
  const auto shortest =
      static_cast<int64_t>(std::ranges::min(inputs | std::views::transform(length)));
  for (nn::SequenceInput& input : inputs) {
    input.stepped = static_cast<int64_t>(input.ids.size()) - std::max(shortest, input.query.end());
  }
}

/// Each output with what its prompt leaves of `total` tokens. In a batch that is read together the
/// longest prompt's limit is the batch's, so that shorter ones are followed by more.
std::vector<decoding::MixedInput> outputs_of(std::span<const nn::SequenceInput> inputs,
                                             std::optional<int64_t> total, int64_t new_tokens,
                                             bool together) {
  const auto length = [](const nn::SequenceInput& input) {
    return static_cast<int64_t>(input.ids.size());
  };
  const int64_t longest = std::ranges::max(inputs | std::views::transform(length));
  std::vector<decoding::MixedInput> outputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    decoding::MixedInput& output = outputs.emplace_back(inputs.subspan(i, 1));
    const int64_t own = length(inputs[i]);
    if (total) output.new_tokens = std::min(*total, (together ? longest : own) + new_tokens) - own;
  }
  return outputs;
}

}  // namespace

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
    if (!numbered.example.other_document.empty()) {
      const auto put = put_other_memory(numbered.example, inputs.back());
      if (!put.ok()) return put.error();
      observed.back()["other_tokens"] = static_cast<double>(*put);
    }
    prompts.push_back(*std::move(prompt));
    seeds.push_back(Rng::derived(seed_, draws_, static_cast<uint64_t>(numbered.ordinal)).next());
  }
  if (model_.reads_together) step_behind_shortest(inputs);
  // Where a fixed number of tokens is measured, no output has another.
  const decoding::DecodingOptions& options = model_.options;
  const auto total = options.ignore_stops ? std::nullopt : model_.prompts.maker.total_tokens();
  const auto outputs = outputs_of(inputs, total, options.max_new_tokens, model_.reads_together);
  const auto result = model_.generator.generate_mixed(outputs, options, seeds);
  if (!result.ok()) return result.error();
  for (size_t i = 0; i < unit.size(); ++i) {
    sink.emit(unit[i].ordinal, prediction_of(prompts[i], result->rows[i], std::move(observed[i])));
  }
  tell_times(result->times, static_cast<int64_t>(unit.size()), sink);
  return {};
}

Result<int64_t> PromptedSession::put_other_memory(const Example& example,
                                                  nn::SequenceInput& input) const {
  Example other = example;
  other.document = std::exchange(other.other_document, {});
  const auto prompt = model_.prompts.maker.prepare_any_length(other);
  if (!prompt.ok()) return prompt.error();
  const nn::TokenSpan from = prompt->input.document;
  if (from.count == 0) {
    return invalid_argument("example '" + example.key +
                            "': no token of the other document is read");
  }
  const nn::SegmentWork& window = model_.generator.work().segment;
  const int64_t left = static_cast<int64_t>(input.ids.size()) - window.tokens;
  const int64_t first = std::max(input.document.first, window.kept);
  const int64_t end = std::max(first, std::min(input.document.end(), left));
  for (int64_t at = first; at < end; ++at) {
    input.ids[static_cast<size_t>(at)] =
        prompt->input.ids[static_cast<size_t>(from.first + (at - first) % from.count)];
  }
  return end - first;
}

}  // namespace qfs::prompted
