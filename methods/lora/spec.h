// The spec of `lora`: a backbone that low-rank adapters (Hu et al. 2021) taught to write summaries;
// its parameters are those of training and those of zero_shot.
//
// Known to the driver; torch-free. Stateless and thread-safe. The sessions are in session.h.
#pragma once

#include "harness/api/method.h"
#include "methods/models/decoding/decoding_params.h"

namespace qfs::lora {

/// Role of the trained file.
inline constexpr const char* kAdapter = "adapter";

class LoraSpec final : public MethodSpec {
 public:
  std::string_view name() const override { return "lora"; }
  std::string_view doc() const override;
  int version() const override { return 1; }
  std::vector<std::string> layers(const Params& params, const BackboneFacts& facts) const override;
  std::vector<ParamSpec> params() const override;
  Needs needs(const Params& params) const override;
  std::vector<Unit> units(const Params& params,
                          std::span<const NumberedExample> examples) const override;
  Status validate(const Params& params) const override;
  Cost cost(const Params& params, const DatasetStats& stats) const override;
  Cost training_cost(const Params& params, const DatasetStats& train) const override;
  bool seed_matters(const Params& params) const override { return decoding::may_draw(params); }
};

/// The parts of a comma-separated list, without spaces around them.
std::vector<std::string> listed(const std::string& text);

}  // namespace qfs::lora
