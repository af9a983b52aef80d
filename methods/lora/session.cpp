#include "methods/lora/session.h"

#include "methods/lora/spec.h"
#include "methods/models/prompted/lora_training.h"

namespace qfs::lora {

namespace {

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache) {
  return prompted::open_lora_session(request, cache, "lora");
}

}  // namespace

Result<std::unique_ptr<TrainingSession>> open_training(const SessionRequest& request,
                                                       ResourceCache& cache) {
  static const LoraSpec spec;
  return prompted::open_adapter_training(request, cache, spec, &prompted::make_lora, &open);
}

SessionFactory session_factory() { return {"lora", &open, &open_training}; }

}  // namespace qfs::lora
