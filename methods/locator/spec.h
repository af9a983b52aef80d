// The spec of `locator`: a ranker of a document's turns for a query, trained on gold evidence or on
// an oracle (the locator of QMSum's locator + generator in its role, with DYLE's extractor as its
// model: Zhong et al. 2021; Mao et al. 2022).
//
// Known to the driver; torch-free. Stateless and thread-safe. The sessions are in session.h.
#pragma once

#include "harness/api/method.h"
#include "harness/api/model_rules.h"
#include "methods/models/prompted/recipe_params.h"
#include "methods/models/prompted/trained_spec.h"

namespace qfs::locator {

class LocatorSpec final : public MethodSpec, public ModelRules {
 public:
  std::string_view name() const override;
  std::string_view doc() const override;
  int version() const override { return 1; }
  std::vector<std::string> layers(const Params& params, const BackboneFacts& facts) const override;
  std::vector<ParamSpec> params() const override;
  Needs needs(const Params& params) const override;
  Status validate(const Params& params) const override;
  Status check_init(const Params& params, const Params& recipe) const override;
  Status check_training(const Params& params, const TrainingFacts& facts) const override {
    return prompted::check_training_data(params, facts);
  }
  Cost cost(const Params& params, const DatasetStats& stats) const override;
  Cost training_cost(const Params& params, const DatasetStats& train) const override;
  bool seed_matters(const Params&) const override { return false; }
  Status check_model(const Params& params, const std::string& role,
                     const Resource& model) const override;
  Status check_file(const Params&, const Params&) const override { return {}; }
  bool may_differ(std::string_view) const override { return false; }
};

}  // namespace qfs::locator
