// The spec of `lora`: a backbone that low-rank adapters (Hu et al. 2021) taught to write summaries;
// its parameters are those of training and those of zero_shot.
//
// Known to the driver; torch-free. Stateless and thread-safe. The sessions are in session.h.
#pragma once

#include "methods/models/prompted/trained_spec.h"

namespace qfs::lora {

class LoraSpec final : public prompted::TrainedSpec {
 public:
  std::string_view name() const override { return "lora"; }
  std::string_view doc() const override;
  int version() const override { return 1; }

 protected:
  std::vector<ParamSpec> adapter_params() const override;
  Status check_adapter(const Params& params) const override;
};

}  // namespace qfs::lora
