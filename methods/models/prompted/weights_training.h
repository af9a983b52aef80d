// Training of all of a backbone's weights: what is trained, the model folder that is kept of it,
// and the request of a session that writes with one.
//
// Used by methods that train a backbone in full (finetune, egad, retrieve_generate, unlimiformer).
// Functions are thread-safe.
#pragma once

#include <memory>

#include "methods/models/prompted/adapter_training.h"

namespace qfs::prompted {

/// The file that is kept of them.
inline constexpr const char* kWeights = "model.safetensors";

/// All weights of the place's backbone, float32. What is kept is model.safetensors, with
/// transformers' names; where the backbone is a folder its configuration and tokenizer stand
/// beside, so that it is one, too.
Result<std::unique_ptr<TrainedAdapter>> make_weights(const AdapterPlace& place);

/// The request of a session that writes with them: the trained folder is its backbone, or without a
/// folder the file stands for the backbone's weights. `invalid_argument`: no file was given;
/// `data`: it says that it is another backbone's.
Result<SessionRequest> with_trained_weights(const SessionRequest& request);

/// The same where `trained` says all weights, else the request as it is.
Result<SessionRequest> as_trained(const SessionRequest& request);

/// A MakeAdapter, as `trained` says: make_weights or make_lora.
Result<std::unique_ptr<TrainedAdapter>> make_trained(const AdapterPlace& place);

}  // namespace qfs::prompted
