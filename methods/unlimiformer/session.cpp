#include "methods/unlimiformer/session.h"

#include <limits>
#include <utility>

#include "methods/models/prompted/lora_training.h"
#include "methods/models/prompted/prompted_session.h"
#include "methods/models/prompted/trained_spec.h"
#include "methods/models/prompted/weights_training.h"
#include "methods/models/registry/artifacts.h"
#include "methods/unlimiformer/session_network.h"
#include "methods/unlimiformer/session_reading.h"
#include "methods/unlimiformer/spec.h"
#include "methods/unlimiformer/windows.h"

namespace qfs::unlimiformer {

namespace {

Retrieval retrieval_of(const Params& params, int64_t window) {
  return {params.find<int64_t>("retrieved").value_or(window), params.get<double>("overlap")};
}

/// What is read of an example: all of a source of any length.
struct Reader {
  prompted::Prompts prompts;
  std::shared_ptr<const nn::Network> plain;  ///< without retrieval

  int64_t window() const { return plain->shape().source_context; }  ///< tokens its encoder reads
};

Result<Reader> open_reader(const SessionRequest& request, ResourceCache& cache) {
  auto prompts = prompted::open_prompts(request, cache);
  if (!prompts.ok()) return prompts.error();
  Reader reader{*std::move(prompts), {}};
  reader.plain = reader.prompts.backbone->network;
  if (reader.plain->shape().global_attention) {
    return unavailable("unlimiformer reads windows of a source one by one; the encoder of '" +
                       request.backbone->name + "' has windowed attention");
  }
  auto backbone = std::make_shared<architectures::Backbone>(*reader.prompts.backbone);
  backbone->network =
      retrieving_network(reader.plain, retrieval_of(request.params, reader.window()));
  auto maker = prompted::PromptMaker::open(request.params, backbone, reader.prompts.counter);
  if (!maker.ok()) return maker.error();
  reader.prompts = {std::move(backbone), reader.prompts.counter, *std::move(maker)};
  return reader;
}

/// A backbone as it writes. `window`: tokens that its encoder reads.
Result<prompted::PromptedModel> open_model(const SessionRequest& request, ResourceCache& cache,
                                           int64_t& window) {
  auto reader = open_reader(request, cache);
  if (!reader.ok()) return reader.error();
  window = reader->window();
  auto writer = prompted::open_writer(request, reader->prompts.backbone, cache);
  if (!writer.ok()) return writer.error();
  return prompted::PromptedModel{std::move(reader->prompts), std::move(writer->options),
                                 std::move(writer->generator), request.runtime};
}

/// `data` for a file that says that it was trained in another mode than the cell's.
Status check_mode(const SessionRequest& request) {
  const auto given = request.artifacts.find(prompted::kAdapter);
  if (given == request.artifacts.end()) return {};
  const auto file = registry::resolve_artifact(given->second.path);
  if (!file.ok()) return file.error();
  const std::string trained = mode_of(file->recipe);
  const std::string asked = mode_of(request.params);
  if (file->method.empty() || trained == asked) return {};
  return data_error("it was trained with \"mode\": \"" + trained + "\", not \"" + asked + "\"",
                    given->second.path);
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
  const bool whole = prompted::all_weights(request.params);
  const auto writing = prompted::as_trained(request);
  if (!writing.ok()) return writing.error();
  int64_t window = 0;
  auto model = open_model(*writing, cache, window);
  if (!model.ok()) return model.error();
  std::shared_ptr<const nn::Adapters> adapters;
  if (prompted::has_adapter(request.params) && !whole) {
    auto given = prompted::open_lora_adapters(request, model->generator);
    if (!given.ok()) return given.error();
    adapters = *std::move(given);
  }
  if (Status same = check_mode(request); !same.ok()) return same.error();
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

/// Outputs that choose among evaluations: with what is being trained, and retrieval.
Result<std::unique_ptr<MethodSession>> open_choosing(const SessionRequest& request,
                                                     ResourceCache& cache) {
  SessionRequest choosing = request;
  choosing.params.set("adapter", std::string("lora"));
  // With retrieval a source may be of any length.
  choosing.params.set(prompted::kLongestSource, std::numeric_limits<int64_t>::max());
  if (const auto tokens = request.params.find<int64_t>(kSelectTokens)) {
    choosing.params.set("local_context", *tokens);
  }
  return open(choosing, cache);
}

/// How a training reads sources that the encoder does not read at once.
Result<prompted::ExampleReading> open_reading(const SessionRequest& request, ResourceCache& cache) {
  RuntimeOptions runtime = request.runtime;
  runtime.dtype = request.params.get<std::string>("train_dtype");
  if (Status here = check_place(runtime); !here.ok()) return here.error();
  auto reader = open_reader(request, cache);
  if (!reader.ok()) return reader.error();
  const int64_t window = reader->window();
  const TrainingReading how = {mode_of(request.params), retrieval_of(request.params, window),
                               request.seed};
  const nn::ModelWork work = reader->plain->work(reader->plain->element_bytes(runtime));
  return prompted::ExampleReading{
      std::move(reader->prompts),
      [how](std::span<const training::GraphRow> rows) { return readings_of(how, rows); },
      [how, work, window](const training::LabelledSequence& sequence) {
        return reading_flops(how, work, window, sequence);
      }};
}

/// "test_time": as `lora` and `finetune` train, on the beginning of each source that fits the
/// encoder.
Result<std::unique_ptr<TrainingSession>> open_training(const SessionRequest& request,
                                                       ResourceCache& cache) {
  static const UnlimiformerSpec kSpec;
  if (mode_of(request.params) == kTestTime) {
    return prompted::open_adapter_training(request, cache, kSpec, &prompted::make_trained,
                                           &open_choosing);
  }
  auto reading = open_reading(request, cache);
  if (!reading.ok()) return reading.error();
  return prompted::open_adapter_training(request, cache, kSpec, &prompted::make_trained,
                                         &open_choosing, *std::move(reading));
}

}  // namespace

SessionFactory session_factory() { return {"unlimiformer", &open, &open_training}; }

}  // namespace qfs::unlimiformer
