#include "methods/models/prompted/prompted_model.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "harness/core/utf8.h"
#include "methods/models/architectures/backbone.h"
#include "methods/models/decoding/chosen_decoding.h"
#include "methods/models/inspect/machine_limits.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/steps/segment_model.h"
#include "methods/models/prompted/memory_params.h"
#include "methods/models/prompted/retrained_network.h"
#include "methods/models/tokenizers/folders/open_tokenizer.h"

namespace qfs::prompted {

namespace {

constexpr int64_t kLedPositions = 16384;  // of the published LED checkpoints

/// What the checkpoint requires or its publisher set, what was asked for, and what measuring asks.
Result<decoding::DecodingOptions> decoding_of(const SessionRequest& request,
                                              const architectures::Backbone& backbone) {
  Result<decoding::DecodingOptions> decoding =
      decoding::chosen_decoding(request.params, backbone.generation, backbone.network->shape());
  if (!decoding.ok()) return decoding;
  decoding::DecodingOptions options = *std::move(decoding);
  options.max_new_tokens = request.params.get<int64_t>("max_new_tokens");
  options.ignore_stops = request.runtime.ignore_eos;
  if (auto stop = request.params.find<std::string>("stop")) options.stop_texts.push_back(*stop);
  options.min_new_tokens = std::min(options.min_new_tokens, options.max_new_tokens);
  options.share_prefixes = request.params.find<bool>("prefix_reuse").value_or(false);
  return options;
}

std::shared_ptr<const architectures::Backbone> over(const architectures::Backbone& backbone,
                                                    std::shared_ptr<const nn::Network> network) {
  auto changed = std::make_shared<architectures::Backbone>(backbone);
  changed->network = std::move(network);
  return changed;
}

/// Without a tokenizer of the cell, lengths are counted by the backbone's.
Result<std::shared_ptr<const tokenizers::Tokenizer>> open_counter(
    const SessionRequest& request, const architectures::Backbone& backbone, ResourceCache& cache) {
  if (!request.tokenizer) {
    return std::shared_ptr<const tokenizers::Tokenizer>(backbone.tokenizer);
  }
  return tokenizers::open_tokenizer(*request.tokenizer, cache);
}

Result<std::unique_ptr<nn::SequenceModel>> open_with_memory(const SessionRequest& request,
                                                            const architectures::Backbone& backbone,
                                                            ResourceCache& cache,
                                                            const MakeMemory& make,
                                                            nn::SegmentWork& work) {
  // Token by token a prompt of the release's batch would expand all weights for each.
  const bool by_token = request.params.has(kReadTogether);
  auto decoder = by_token ? backbone.network->decoder(request.runtime, backbone.digest, cache)
                          : backbone.network->reader(request.runtime, backbone.digest, cache);
  if (!decoder.ok()) return decoder.error();
  auto memory = make(**decoder);
  if (!memory.ok()) return memory.error();
  work = nn::work_of(**memory, (*decoder)->shape());
  return std::unique_ptr<nn::SequenceModel>(
      std::make_unique<nn::SegmentModel>(*std::move(decoder), *std::move(memory)));
}

}  // namespace

Result<std::shared_ptr<const architectures::Backbone>> open_backbone(const SessionRequest& request,
                                                                     ResourceCache& cache) {
  if (!request.backbone) return invalid_argument("this method needs a backbone");
  if (Status status = nn::configure_torch(request.runtime); !status.ok()) return status.error();
  auto backbone = architectures::open_backbone(*request.backbone, cache);
  const auto window = request.params.find<int64_t>("window");
  const auto positions = request.params.find<int64_t>("positions");
  const auto weights = request.artifacts.find(kWeightsRole);
  const bool retrains = weights != request.artifacts.end();
  if (!backbone.ok()) return backbone;
  const bool extends = positions && *positions > (*backbone)->network->shape().context;
  if (!window && !extends && !retrains) return backbone;
  Result<std::shared_ptr<const nn::Network>> network = (*backbone)->network;
  if (window) {
    const auto source_positions = request.params.find<int64_t>("source_positions");
    network = (*network)->windowed(*window, source_positions.value_or(kLedPositions));
  } else if (extends) {
    network = (*network)->extended(*positions);
  }
  if (network.ok() && retrains) network = retrained(*network, weights->second);
  if (!network.ok()) return network.error();
  return over(**backbone, *std::move(network));
}

Result<Prompts> open_prompts(const SessionRequest& request, ResourceCache& cache) {
  auto backbone = open_backbone(request, cache);
  if (!backbone.ok()) return backbone.error();
  auto counter = open_counter(request, **backbone, cache);
  if (!counter.ok()) return counter.error();
  auto maker = PromptMaker::open(request.params, *backbone, *counter);
  if (!maker.ok()) return maker.error();
  return Prompts{*std::move(backbone), *std::move(counter), *std::move(maker)};
}

Result<Writer> open_writer(const SessionRequest& request,
                           std::shared_ptr<const architectures::Backbone> backbone,
                           ResourceCache& cache, const MakeMemory& memory) {
  const nn::Network& network = *backbone->network;
  nn::ModelWork work = network.work(network.element_bytes(request.runtime));
  auto model = memory ? open_with_memory(request, *backbone, cache, memory, work.segment)
                      : network.open(request.runtime, backbone->digest, cache);
  if (!model.ok()) return model.error();
  auto decoding = decoding_of(request, *backbone);
  if (!decoding.ok()) return decoding.error();
  decoding::Generator generator(backbone->tokenizer, *std::move(model), std::move(work));
  return Writer{std::move(backbone), *std::move(decoding), std::move(generator), request.runtime};
}

Result<PromptedModel> open_prompted_model(const SessionRequest& request, ResourceCache& cache,
                                          const MakeMemory& memory, const ChangeNetwork& change) {
  auto prompts = open_prompts(request, cache);
  if (!prompts.ok()) return prompts.error();
  if (change) {
    auto network = change(prompts->backbone->network);
    if (!network.ok()) return network.error();
    prompts->backbone = over(*prompts->backbone, *std::move(network));
  }
  auto writer = open_writer(request, prompts->backbone, cache, memory);
  if (!writer.ok()) return writer.error();
  return PromptedModel{*std::move(prompts), std::move(writer->options),
                       std::move(writer->generator), request.runtime};
}

Prediction prediction_of(const PreparedPrompt& prompt, const decoding::Generated& generated,
                         std::map<std::string, double> observed) {
  RepairedText repaired = repair_utf8(generated.text);
  Prediction prediction;
  prediction.text = std::move(repaired.text);
  prediction.repaired_bytes = repaired.replaced_bytes;
  prediction.finish = generated.finish;
  prediction.tokens_in = static_cast<int64_t>(prompt.input.ids.size());
  prediction.tokens_out = static_cast<int64_t>(generated.ids.size());
  prediction.truncation = prompt.ledger;
  prediction.prompt = prompt.text;
  nlohmann::json facts = std::move(observed);
  if (generated.shared_tokens > 0) facts["shared_prefix_tokens"] = generated.shared_tokens;
  if (!facts.empty()) prediction.extra = {nlohmann::json{{"observed", facts}}.dump()};
  return prediction;
}

void tell_times(const decoding::GenerationTimes& times, int64_t calls, PredictionSink& sink) {
  const auto known = [](const Work& work) {
    return work.flops > 0 ? std::optional<Work>(work) : std::nullopt;
  };
  sink.phase({"prefill", times.prefill_ns, times.prefill_tokens, known(times.prefill_work)});
  sink.phase({"first_token", times.first_token_ns, calls});
  sink.phase({"decode", times.decode_ns, times.decode_tokens, known(times.decode_work)});
}

Result<std::optional<MachineLimits>> measure_limits(const decoding::Generator& generator,
                                                    const RuntimeOptions& runtime) {
  const auto measured = inspect::measure_limits(generator.work().input.matrices, runtime);
  if (!measured.ok()) return measured.error();
  return std::optional<MachineLimits>(measured->limits());
}

}  // namespace qfs::prompted
