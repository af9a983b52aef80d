#include "methods/unlimiformer/session.h"

#include <utility>

#include "methods/models/prompted/lora_training.h"
#include "methods/models/prompted/prompted_session.h"
#include "methods/unlimiformer/session_network.h"
#include "methods/unlimiformer/spec.h"
#include "methods/unlimiformer/windows.h"

namespace qfs::unlimiformer {

namespace {

Retrieval retrieval_of(const Params& params, int64_t window) {
  return {params.find<int64_t>("retrieved").value_or(window), params.get<double>("overlap")};
}

/// A backbone as it writes: with a source of any length. `window`: tokens that its encoder reads.
Result<prompted::PromptedModel> open_model(const SessionRequest& request, ResourceCache& cache,
                                           int64_t& window) {
  auto prompts = prompted::open_prompts(request, cache);
  if (!prompts.ok()) return prompts.error();
  const nn::SequenceShape& shape = prompts->backbone->network->shape();
  window = shape.source_context;
  if (shape.global_attention) {
    return unavailable("unlimiformer reads windows of a source one by one; the encoder of '" +
                       request.backbone->name + "' has windowed attention");
  }
  auto backbone = std::make_shared<architectures::Backbone>(*prompts->backbone);
  backbone->network = retrieving_network(backbone->network, retrieval_of(request.params, window));
  auto maker = prompted::PromptMaker::open(request.params, backbone, prompts->counter);
  if (!maker.ok()) return maker.error();
  auto writer = prompted::open_writer(request, backbone, cache);
  if (!writer.ok()) return writer.error();
  return prompted::PromptedModel{{std::move(backbone), prompts->counter, *std::move(maker)},
                                 std::move(writer->options),
                                 std::move(writer->generator),
                                 request.runtime};
}

/// What is said of a row's source.
std::map<std::string, double> facts_of(const nn::SequenceInput& input, int64_t window,
                                       double overlap, int64_t hidden) {
  const auto tokens = static_cast<int64_t>(input.ids.size());
  return {
      {"source_tokens", static_cast<double>(tokens)},
      {"source_windows", static_cast<double>(windows_of(tokens, window, overlap).size())},
      {"index_bytes", static_cast<double>(tokens * hidden * static_cast<int64_t>(sizeof(float)))}};
}

/// Says no limits of the machine: how much a retrieval computes is not counted.
class UnlimiformerSession final : public MethodSession {
 public:
  explicit UnlimiformerSession(std::unique_ptr<MethodSession> inner) : inner_(std::move(inner)) {}

  Status run(std::span<const NumberedExample> unit, PredictionSink& sink) override {
    return inner_->run(unit, sink);
  }

 private:
  std::unique_ptr<MethodSession> inner_;
};

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache) {
  int64_t window = 0;
  auto model = open_model(request, cache, window);
  if (!model.ok()) return model.error();
  std::shared_ptr<const nn::Adapters> adapters;
  if (has_adapter(request.params)) {
    auto given = prompted::open_lora_adapters(request, model->generator);
    if (!given.ok()) return given.error();
    adapters = *std::move(given);
  }
  const auto decoder = model->prompts.backbone->network->decoder(
      request.runtime, model->prompts.backbone->digest, cache);
  if (!decoder.ok()) return decoder.error();
  const double overlap = request.params.get<double>("overlap");
  auto inner = std::make_unique<prompted::PromptedSession>(
      request.seed, "unlimiformer", *std::move(model),
      [adapters, window, overlap, hidden = (*decoder)->hidden()](
          const Example&, const nn::SequenceInput& input, prompted::PromptedModel&) {
        return Result<prompted::RowAddition>(
            prompted::RowAddition{adapters, facts_of(input, window, overlap, hidden)});
      });
  return std::unique_ptr<MethodSession>(std::make_unique<UnlimiformerSession>(std::move(inner)));
}

/// As `lora` trains: on the beginning of each source that fits the encoder.
Result<std::unique_ptr<TrainingSession>> open_training(const SessionRequest& request,
                                                       ResourceCache& cache) {
  static const UnlimiformerSpec kSpec;
  return prompted::open_adapter_training(request, cache, kSpec, &prompted::make_lora, &open);
}

}  // namespace

SessionFactory session_factory() { return {"unlimiformer", &open, &open_training}; }

}  // namespace qfs::unlimiformer
