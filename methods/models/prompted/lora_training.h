// Low-rank adapters as what is trained beside a backbone, and sessions that write with them.
//
// Used by methods whose trained file is a PEFT adapter (lora, egad, unlimiformer), or has
// such matrices in it (dyle, locator). Not thread-safe.
#pragma once

#include <memory>
#include <string_view>

#include "methods/models/peft/lora.h"
#include "methods/models/prompted/adapter_training.h"

namespace qfs::prompted {

/// By `rank`, `alpha` and the parameter `targets` that names layers; those of default_targets where
/// it is left out.
peft::LoraConfig lora_config(const Params& params, const char* targets,
                             const peft::AdaptableLayers& layers);

/// A prompted::MakeAdapter: by `rank`, `alpha` and `targets`, and the memory of a cell that has
/// one. Errors: `not_found` for targets that the backbone does not have; those of a file that
/// training begins with (peft/lora.h).
Result<std::unique_ptr<TrainedAdapter>> make_lora(const AdapterPlace& place);

/// The request's adapter, bound to a model without a memory. Errors: `invalid_argument`: no
/// adapter; those of a PEFT file, and `data` for one with a memory or of another backbone.
Result<std::shared_ptr<const nn::Adapters>> open_lora_adapters(
    const SessionRequest& request, const decoding::Generator& generator);

/// A session that writes with the request's adapter; `draws` as PromptedSession. Errors: those of
/// zero_shot; `invalid_argument`: no adapter; those of a PEFT file, and `data` for an adapter that
/// says it is another backbone's.
Result<std::unique_ptr<MethodSession>> open_lora_session(const SessionRequest& request,
                                                         ResourceCache& cache,
                                                         std::string_view draws);

}  // namespace qfs::prompted
