#include "methods/finetune/session.h"

#include <memory>
#include <utility>

#include "methods/finetune/spec.h"
#include "methods/models/prompted/prompted_session.h"
#include "methods/models/prompted/weights_training.h"

namespace qfs::finetune {

namespace {

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache) {
  const auto writing = prompted::with_trained_weights(request);
  if (!writing.ok()) return writing.error();
  auto model = prompted::open_prompted_model(*writing, cache);
  if (!model.ok()) return model.error();
  return std::unique_ptr<MethodSession>(
      std::make_unique<prompted::PromptedSession>(request.seed, "finetune", *std::move(model)));
}

Result<std::unique_ptr<TrainingSession>> open_training(const SessionRequest& request,
                                                       ResourceCache& cache) {
  static const FinetuneSpec kSpec;
  return prompted::open_adapter_training(request, cache, kSpec, &prompted::make_weights, &open);
}

}  // namespace

SessionFactory session_factory() { return {"finetune", &open, &open_training}; }

}  // namespace qfs::finetune
