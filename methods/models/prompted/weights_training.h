// Training of all of a backbone's weights: what is trained, the model folder that is kept of it,
// and the request of a session that writes with one.
//
// Used by methods that train a backbone in full (finetune, egad). Functions are thread-safe.
#pragma once

#include <memory>

#include "methods/models/prompted/adapter_training.h"

namespace qfs::prompted {

/// All weights of the place's backbone, float32. What is kept is a folder as transformers reads it:
/// model.safetensors beside the backbone's configuration and tokenizer. `unavailable`: a backbone
/// that is no folder of safetensors; errors of an `init` folder.
Result<std::unique_ptr<TrainedAdapter>> make_weights(const AdapterPlace& place);

/// The request with the trained folder in the place of its backbone. `invalid_argument`: no file
/// was given; `data`: it says that it is another backbone's; `not_found`: no folder of a model
/// around it.
Result<SessionRequest> with_trained_weights(const SessionRequest& request);

}  // namespace qfs::prompted
