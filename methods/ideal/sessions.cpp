#include "methods/ideal/sessions.h"

#include <utility>

#include "methods/ideal/session_rows.h"
#include "methods/ideal/session_train.h"
#include "methods/ideal/specs.h"
#include "methods/models/architectures/backbone.h"
#include "methods/models/peft/layer_adapter_files.h"
#include "methods/models/peft/trained_biases.h"
#include "methods/models/prompted/adapter_training.h"
#include "methods/models/prompted/memory_params.h"
#include "methods/models/prompted/memory_session.h"
#include "methods/models/prompted/prompted_session.h"
#include "methods/models/prompted/retrained_network.h"

namespace qfs::ideal {

namespace {

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache,
                                            const MethodSpec& spec) {
  const auto file = request.artifacts.find(prompted::kAdapter);
  if (file == request.artifacts.end()) return invalid_argument("no adapter was given");
  const auto backbone = architectures::open_backbone(*request.backbone, cache);
  if (!backbone.ok()) return backbone.error();
  const std::string& path = file->second.path;
  const nn::LayerWidths& widths = (*backbone)->network->shape().widths;
  const peft::LayerAdapterConfig asked = config_of(spec.name(), request.params, widths);
  auto adapter = peft::read_layer_adapter(path, widths, asked);
  if (!adapter.ok()) return adapter.error();
  const auto memory = prompted::written_memory(request.params, adapter->memory, path);
  if (!memory.ok()) return memory.error();
  prompted::ChangeNetwork change;
  if (!adapter->biases.empty()) {
    change = [&](std::shared_ptr<const nn::Network> network) {
      return prompted::retrained(
          std::move(network),
          [&](const nn::Decoder& own) { return peft::with_biases(own, adapter->biases); },
          file->second);
    };
  }
  auto model = prompted::open_prompted_model(request, cache, *memory, change);
  if (!model.ok()) return model.error();
  model->reads_together = request.params.has(prompted::kReadTogether);
  const Status same = prompted::check_backbone(adapter->metadata, request, path);
  if (!same.ok()) return same.error();
  if (adapter->config.kind != asked.kind) {
    return data_error("the adapters are of another kind than the cell's", path);
  }
  if (asked.size > 0 && adapter->config.size != asked.size) {
    return data_error("the adapters have the size " + std::to_string(adapter->config.size) +
                          ", their recipe says " + std::to_string(asked.size),
                      path);
  }
  if (adapter->config.hyper.layers > 0 && spec.name() != "ideal") {
    return data_error("the adapters are generated ones, of 'ideal'", path);
  }
  const bool general =
      request.params.find<std::string>("hyper_instruction").value_or("own") == "general";
  auto rows = std::make_shared<RowAdapters>(*std::move(adapter), general);
  return std::unique_ptr<MethodSession>(std::make_unique<prompted::PromptedSession>(
      request.seed, spec.name(), *std::move(model),
      [rows](const Example& example, const nn::SequenceInput& input,
             prompted::PromptedModel& prompted) { return rows->of(example, input, prompted); }));
}

template <class Spec>
const Spec& spec_of() {
  static const Spec spec;
  return spec;
}

template <class Spec>
SessionFactory factory() {
  return {std::string(spec_of<Spec>().name()),
          [](const SessionRequest& request, ResourceCache& cache) {
            return open(request, cache, spec_of<Spec>());
          },
          [](const SessionRequest& request, ResourceCache& cache) {
            return prompted::open_adapter_training(
                request, cache, spec_of<Spec>(), &make_trained_layers<Spec>,
                [](const SessionRequest& writing, ResourceCache& shared) {
                  return open(writing, shared, spec_of<Spec>());
                });
          }};
}

}  // namespace

std::vector<SessionFactory> session_factories() {
  return {factory<ParallelAdapterSpec>(), factory<PromptTuningSpec>(), factory<IdealSpec>()};
}

}  // namespace qfs::ideal
