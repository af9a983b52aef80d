#include "methods/lora/spec.h"

#include <utility>

#include "methods/models/prompted/memory_params.h"
#include "methods/models/prompting/length_params.h"

namespace qfs::lora {

std::string_view LoraSpec::doc() const {
  return "A language model with low-rank adapters that learned to summarize from examples";
}

std::vector<ParamSpec> LoraSpec::adapter_params() const {
  std::vector<ParamSpec> params = prompted::lora_params();
  for (ParamSpec& param : prompted::memory_params()) params.push_back(std::move(param));
  return prompting::with_total_length(std::move(params));
}

Status LoraSpec::check_adapter(const Params& params) const {
  if (Status status = prompted::check_memory_params(params); !status.ok()) return status;
  return prompted::check_targets(params);
}

}  // namespace qfs::lora
