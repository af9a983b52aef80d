// The spec of `imported`: outputs that another program has already written, as a method of a sweep.
//
// Known to the driver, which reads the file when it plans and needs no host. Stateless and
// thread-safe.
#pragma once

#include <vector>

#include "harness/api/method.h"

namespace qfs::imported {

class ImportedSpec final : public MethodSpec {
 public:
  std::string_view name() const override { return "imported"; }
  std::string_view doc() const override;
  int version() const override { return 1; }
  std::vector<std::string> layers(const Params&, const BackboneFacts&) const override { return {}; }
  std::vector<ParamSpec> params() const override;
  Needs needs(const Params& params) const override;
  Cost cost(const Params& params, const DatasetStats& stats) const override;
  bool seed_matters(const Params&) const override { return false; }
};

}  // namespace qfs::imported
