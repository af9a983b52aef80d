#include "methods/lora/session.h"

#include <utility>

#include "methods/lora/spec.h"
#include "methods/models/peft/lora.h"
#include "methods/models/prompted/prompted_session.h"

namespace qfs::lora {

namespace {

Status check_backbone(const peft::LoraAdapter& adapter, const Resource& backbone,
                      const std::string& path) {
  const auto made_for = adapter.metadata.find("qfs.backbone");
  if (made_for == adapter.metadata.end() || made_for->second == backbone.digest) return {};
  return data_error("the adapter is of the backbone with the digest " + made_for->second + "; '" +
                        backbone.name + "' is " + backbone.digest,
                    path);
}

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache) {
  const auto file = request.artifacts.find(kAdapter);
  if (file == request.artifacts.end()) return invalid_argument("no adapter was given");
  const auto adapter = peft::read_lora(file->second.path);
  if (!adapter.ok()) return adapter.error();
  auto model = prompted::open_prompted_model(request, cache);
  if (!model.ok()) return model.error();
  const Status same = check_backbone(*adapter, *request.backbone, file->second.path);
  if (!same.ok()) return same.error();
  auto bound = model->generator.bind(adapter->layers);
  if (!bound.ok()) return bound.error();
  return std::unique_ptr<MethodSession>(std::make_unique<prompted::PromptedSession>(
      request.seed, "lora", *std::move(model), *std::move(bound)));
}

}  // namespace

SessionFactory session_factory() { return {"lora", &open, &open_training}; }

}  // namespace qfs::lora
