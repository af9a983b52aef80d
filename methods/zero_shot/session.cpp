#include "methods/zero_shot/session.h"

#include <memory>
#include <utility>

#include "methods/models/prompted/prompted_session.h"

namespace qfs::zero_shot {

namespace {

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache) {
  auto model = prompted::open_prompted_model(request, cache);
  if (!model.ok()) return model.error();
  return std::unique_ptr<MethodSession>(
      std::make_unique<prompted::PromptedSession>(request.seed, "zero_shot", *std::move(model)));
}

}  // namespace

SessionFactory session_factory() { return {"zero_shot", &open}; }

}  // namespace qfs::zero_shot
