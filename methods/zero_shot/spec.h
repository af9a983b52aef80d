// The spec of `zero_shot`: a language model is prompted with the document and the query, and its
// continuation is the summary.
//
// Known to the driver; torch-free. Stateless and thread-safe. The session is in session.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/api/method.h"
#include "methods/models/decoding/decoding_params.h"

namespace qfs::zero_shot {

class ZeroShotSpec final : public MethodSpec {
 public:
  std::string_view name() const override { return "zero_shot"; }
  std::string_view doc() const override;
  int version() const override { return 1; }
  std::vector<std::string> layers(const Params& params, const BackboneFacts& facts) const override;
  std::vector<ParamSpec> params() const override;
  Needs needs(const Params& params) const override;
  /// With `prefix_reuse` a unit holds examples of one document.
  std::vector<Unit> units(const Params& params,
                          std::span<const NumberedExample> examples) const override;
  /// `prompt` must hold {document} once, {query} at most once and no other placeholder.
  Status validate(const Params& params) const override;
  Status check_backbone(const Params& params, const BackboneFacts& facts) const override;
  std::optional<TokenBound> token_bound(const Params& params,
                                        const Example& example) const override;
  Cost cost(const Params& params, const DatasetStats& stats) const override;
  bool seed_matters(const Params& params) const override { return decoding::may_draw(params); }
};

}  // namespace qfs::zero_shot
