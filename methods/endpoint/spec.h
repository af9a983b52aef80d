// The spec of `endpoint`: an OpenAI-compatible HTTP(S) server answers a prompt with the document
// and the query.
//
// Known to the driver; links no network. Stateless and thread-safe. The session is in session.h.
#pragma once

#include <string>
#include <vector>

#include "harness/api/method.h"

namespace qfs::endpoint {

/// `revision` that promises nothing about the model behind the name.
inline constexpr std::string_view kLive = "live";

class EndpointSpec final : public MethodSpec {
 public:
  std::string_view name() const override { return "endpoint"; }
  std::string_view doc() const override;
  int version() const override { return 1; }
  std::vector<std::string> layers(const Params&, const BackboneFacts&) const override;
  std::vector<ParamSpec> params() const override;
  Needs needs(const Params& params) const override;
  /// Address, headers, extra_body and prompt must read as what they are; a secret written into
  /// `headers` is refused.
  Status validate(const Params& params) const override;
  /// Four times as many examples as requests in flight, so that few of them wait for the last one
  /// of a unit; rows stand for themselves, so the cut changes nothing else.
  std::vector<Unit> units(const Params& params,
                          std::span<const NumberedExample> examples) const override;
  Cost cost(const Params& params, const DatasetStats& stats) const override;
  /// The address of a "live" model.
  std::string sweep_bound(const Params& params) const override;
};

}  // namespace qfs::endpoint
