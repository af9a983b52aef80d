#include "methods/lora/spec.h"

#include "harness/api/param_specs.h"
#include "methods/models/prompted/memory_params.h"

namespace qfs::lora {

std::string_view LoraSpec::doc() const {
  return "A language model with low-rank adapters that learned to summarize from examples";
}

std::vector<ParamSpec> LoraSpec::adapter_params() const {
  std::vector<ParamSpec> params = {
      prompted::of_training(from_source(
          with_default(integer_param("rank", "", 1, 4096, "Rank of what is added to each layer"),
                       int64_t{8}),
          "IDEAL, Table 3: 8 and 16")),
      prompted::of_training(
          real_param("alpha", "", 1e-6, 1 << 24,
                     "What is added is multiplied by alpha / rank; the rank when left out")),
      prompted::targets_param(
          "Layers to adapt, with commas, by the ends of their names in the checkpoint; when left "
          "out all projections of attention and the first of the MLP, without its gate")};
  for (ParamSpec& param : prompted::memory_params(false)) params.push_back(std::move(param));
  return params;
}

Status LoraSpec::check_adapter(const Params& params) const {
  if (Status status = prompted::check_memory_params(params); !status.ok()) return status;
  return prompted::check_targets(params);
}

}  // namespace qfs::lora
