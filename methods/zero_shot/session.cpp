#include "methods/zero_shot/session.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/rng.h"
#include "harness/core/utf8.h"
#include "methods/backbones/backbone.h"
#include "methods/backbones/torch_runtime.h"
#include "methods/generation/checkpoint_decoding.h"
#include "methods/generation/decoding_params.h"
#include "methods/generation/generator.h"
#include "methods/tokenizers/tokenizer.h"
#include "methods/zero_shot/prompt_maker.h"

namespace qfs::zero_shot {

namespace {

/// What the checkpoint requires or its publisher set, what was asked for, and what measuring asks.
generation::DecodingOptions decoding_of(const SessionRequest& request,
                                        const backbones::Backbone& backbone) {
  const backbones::SequenceShape& shape = backbone.network->shape();
  const bool published = request.params.find<std::string>("decoding") == "checkpoint";
  generation::DecodingOptions options =
      published ? generation::published_decoding(backbone.generation, shape)
                : generation::required_decoding(backbone.generation, shape);
  options.max_new_tokens = request.params.get<int64_t>("max_new_tokens");
  options.ignore_stops = request.runtime.ignore_eos;
  if (auto stop = request.params.find<std::string>("stop")) options.stop_texts.push_back(*stop);
  generation::apply_decoding(request.params, options);
  options.min_new_tokens = std::min(options.min_new_tokens, options.max_new_tokens);
  return options;
}

Prediction to_prediction(const PreparedPrompt& prompt, const generation::Generated& generated) {
  RepairedText repaired = repair_utf8(generated.text);
  Prediction prediction;
  prediction.text = std::move(repaired.text);
  prediction.repaired_bytes = repaired.replaced_bytes;
  prediction.finish = generated.finish;
  prediction.tokens_in = static_cast<int64_t>(prompt.input.ids.size());
  prediction.tokens_out = static_cast<int64_t>(generated.ids.size());
  prediction.truncation = prompt.ledger;
  prediction.prompt = prompt.text;
  return prediction;
}

class ZeroShotSession final : public MethodSession {
 public:
  ZeroShotSession(uint64_t seed, generation::DecodingOptions options, PromptMaker maker,
                  generation::Generator generator)
      : seed_(seed),
        options_(std::move(options)),
        maker_(std::move(maker)),
        generator_(std::move(generator)) {}

  Status run(std::span<const NumberedExample> unit, PredictionSink& sink) override {
    std::vector<PreparedPrompt> prompts;
    std::vector<backbones::SequenceInput> inputs;
    std::vector<uint64_t> seeds;
    for (const NumberedExample& numbered : unit) {
      auto prompt = maker_.prepare(numbered.example, options_.max_new_tokens);
      if (!prompt.ok()) return prompt.error();
      inputs.push_back(prompt->input);
      prompts.push_back(*std::move(prompt));
      seeds.push_back(
          Rng::derived(seed_, "zero_shot", static_cast<uint64_t>(numbered.ordinal)).next());
    }
    const auto result = generator_.generate(inputs, options_, seeds);
    if (!result.ok()) return result.error();
    for (size_t i = 0; i < unit.size(); ++i) {
      sink.emit(unit[i].ordinal, to_prediction(prompts[i], result->rows[i]));
    }
    const generation::GenerationTimes& times = result->times;
    sink.phase("prefill", times.prefill_ns, times.prefill_tokens);
    sink.phase("first_token", times.first_token_ns, static_cast<int64_t>(unit.size()));
    sink.phase("decode", times.decode_ns, times.decode_tokens);
    return {};
  }

 private:
  uint64_t seed_;
  generation::DecodingOptions options_;
  PromptMaker maker_;
  generation::Generator generator_;
};

/// Without a tokenizer of the cell, lengths are counted by the backbone's.
Result<std::shared_ptr<const tokenizers::Tokenizer>> open_counter(
    const SessionRequest& request, const backbones::Backbone& backbone, ResourceCache& cache) {
  if (!request.tokenizer) {
    return std::shared_ptr<const tokenizers::Tokenizer>(backbone.tokenizer);
  }
  return cache.get<tokenizers::Tokenizer>("tokenizer:" + request.tokenizer->digest, [&] {
    return tokenizers::open_tokenizer(*request.tokenizer);
  });
}

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache) {
  if (!request.backbone) return invalid_argument("zero_shot needs a backbone");
  if (Status status = backbones::configure_torch(request.runtime); !status.ok()) {
    return status.error();
  }
  auto backbone = backbones::open_backbone(*request.backbone, cache);
  if (!backbone.ok()) return backbone.error();
  auto model = (*backbone)->network->open(request.runtime, (*backbone)->digest, cache);
  if (!model.ok()) return model.error();
  auto counter = open_counter(request, **backbone, cache);
  if (!counter.ok()) return counter.error();
  auto maker = PromptMaker::open(request.params, *backbone, *std::move(counter));
  if (!maker.ok()) return maker.error();
  return std::unique_ptr<MethodSession>(std::make_unique<ZeroShotSession>(
      request.seed, decoding_of(request, **backbone), *std::move(maker),
      generation::Generator((*backbone)->tokenizer, *std::move(model))));
}

}  // namespace

SessionFactory session_factory() { return {"zero_shot", &open}; }

}  // namespace qfs::zero_shot
