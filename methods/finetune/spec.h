// The spec of `finetune`: a backbone all of whose weights learned to write summaries; its
// parameters are those of training and those of zero_shot.
//
// Known to the driver; torch-free. Stateless and thread-safe. The sessions are in session.h.
#pragma once

#include "methods/models/prompted/trained_spec.h"

namespace qfs::finetune {

class FinetuneSpec final : public prompted::TrainedSpec {
 public:
  std::string_view name() const override { return "finetune"; }
  std::string_view doc() const override;
  int version() const override { return 1; }

 protected:
  std::vector<ParamSpec> adapter_params() const override { return {}; }
  Status check_adapter(const Params& params) const override;
  bool trains_weights(const Params&) const override { return true; }
};

}  // namespace qfs::finetune
