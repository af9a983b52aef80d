// The spec of `egad`: a backbone whose input begins with keywords of its document, to which an
// encoder with windows attends globally (arXiv 2410.08971).
//
// Known to the driver; torch-free. Stateless and thread-safe. The sessions are in session.h.
#pragma once

#include "methods/models/prompted/trained_spec.h"

namespace qfs::egad {

class EgadSpec final : public prompted::TrainedSpec {
 public:
  std::string_view name() const override { return "egad"; }
  std::string_view doc() const override;
  int version() const override { return 2; }
  Needs needs(const Params& params) const override;
  Status check_backbone(const Params& params, const BackboneFacts& facts) const override;
  Status check_example(const Params& params, const Example& example) const override;
  Status check_file(const Params& params, const Params& recipe) const override;

 protected:
  std::vector<ParamSpec> adapter_params() const override;
  Status check_adapter(const Params& params) const override;
  bool reads_references(const Params& params) const override;
};

}  // namespace qfs::egad
