// The spec of `unlimiformer`: an encoder-decoder whose source has any length: each head of its
// cross-attention reads the states that its query scores highest (Bertsch et al. 2023).
//
// Known to the driver; torch-free. Stateless and thread-safe. The sessions are in session.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "methods/models/prompted/trained_spec.h"

namespace qfs::unlimiformer {

class UnlimiformerSpec final : public prompted::TrainedSpec {
 public:
  std::string_view name() const override { return "unlimiformer"; }
  std::string_view doc() const override;
  int version() const override { return 1; }
  Needs needs(const Params& params) const override;
  Status check_backbone(const Params& params, const BackboneFacts& facts) const override;
  bool trains_with(const Params& params, std::string_view name) const override;

 protected:
  std::vector<ParamSpec> adapter_params() const override;
  Status check_adapter(const Params& params) const override;
};

/// How sources were read in training: "test_time" where its parameters do not say it.
std::string mode_of(const Params& params);
inline constexpr const char* kTestTime = "test_time";

/// Tokens of a document that outputs which choose among evaluations read.
inline constexpr const char* kSelectTokens = "select_tokens";

}  // namespace qfs::unlimiformer
