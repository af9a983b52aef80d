#include <string>
#include <utility>

#include "methods/models/peft/lora.h"
#include "methods/models/prompted/lora_training.h"
#include "methods/models/prompted/memory_session.h"
#include "methods/models/prompted/prompted_session.h"
#include "methods/models/prompted/trained_spec.h"

namespace qfs::prompted {

Result<std::shared_ptr<const nn::Adapters>> open_lora_adapters(
    const SessionRequest& request, const decoding::Generator& generator) {
  const auto file = request.artifacts.find(kAdapter);
  if (file == request.artifacts.end()) return invalid_argument("no adapter was given");
  const std::string& path = file->second.path;
  const auto adapter = peft::read_lora(path);
  if (!adapter.ok()) return adapter.error();
  const auto memory = written_memory(request.params, adapter->memory, path);
  if (!memory.ok()) return memory.error();
  const Status same = check_backbone(adapter->metadata, request, path);
  if (!same.ok()) return same.error();
  return generator.bind({.linears = adapter->layers});
}

Result<std::unique_ptr<MethodSession>> open_lora_session(const SessionRequest& request,
                                                         ResourceCache& cache,
                                                         std::string_view draws) {
  const auto file = request.artifacts.find(kAdapter);
  if (file == request.artifacts.end()) return invalid_argument("no adapter was given");
  const auto adapter = peft::read_lora(file->second.path);
  if (!adapter.ok()) return adapter.error();
  const std::string& path = file->second.path;
  const auto memory = written_memory(request.params, adapter->memory, path);
  if (!memory.ok()) return memory.error();
  auto model = open_prompted_model(request, cache, *memory);
  if (!model.ok()) return model.error();
  const Status same = check_backbone(adapter->metadata, request, path);
  if (!same.ok()) return same.error();
  auto bound = model->generator.bind({.linears = adapter->layers});
  if (!bound.ok()) return bound.error();
  return std::unique_ptr<MethodSession>(std::make_unique<PromptedSession>(
      request.seed, draws, *std::move(model),
      [bound = *bound](const Example&, const nn::SequenceInput&, PromptedModel&) {
        return Result<RowAddition>(RowAddition{bound});
      }));
}

}  // namespace qfs::prompted
