#include "methods/lora/session.h"

#include <string>
#include <utility>

#include "methods/lora/spec.h"
#include "methods/models/peft/lora.h"
#include "methods/models/prompted/adapter_training.h"
#include "methods/models/prompted/memory_params.h"
#include "methods/models/prompted/memory_session.h"
#include "methods/models/prompted/prompted_session.h"

namespace qfs::lora {

namespace {

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache) {
  const auto file = request.artifacts.find(prompted::kAdapter);
  if (file == request.artifacts.end()) return invalid_argument("no adapter was given");
  const auto adapter = peft::read_lora(file->second.path);
  if (!adapter.ok()) return adapter.error();
  const std::string& path = file->second.path;
  const bool remembers = prompted::has_memory(request.params);
  if (!remembers && !adapter->memory.empty()) {
    return data_error("the adapter was trained with a memory; ask for it with 'memory'", path);
  }
  prompted::MakeMemory memory;
  if (remembers) {
    memory = [&](const nn::Decoder& decoder) {
      return prompted::bound_memory(request.params, request.params.get<int64_t>("local_context"),
                                    adapter->memory, decoder, path);
    };
  }
  auto model = prompted::open_prompted_model(request, cache, memory);
  if (!model.ok()) return model.error();
  const Status same = prompted::check_backbone(adapter->metadata, request, path);
  if (!same.ok()) return same.error();
  auto bound = model->generator.bind({.linears = adapter->layers});
  if (!bound.ok()) return bound.error();
  return std::unique_ptr<MethodSession>(std::make_unique<prompted::PromptedSession>(
      request.seed, "lora", *std::move(model),
      [bound = *bound](const nn::SequenceInput&, decoding::Generator&) {
        return Result<std::shared_ptr<const nn::Adapters>>(bound);
      }));
}

}  // namespace

SessionFactory session_factory() { return {"lora", &open, &open_training}; }

}  // namespace qfs::lora
