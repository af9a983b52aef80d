// The spec of `dyle`: an extractor of snippets and a generator that reads each of them by itself
// and mixes what it would write next by a gate, trained together (Mao et al. 2022, arXiv
// 2110.08168).
//
// Known to the driver; torch-free. Stateless and thread-safe. The sessions are in session.h.
#pragma once

#include "harness/api/method.h"
#include "harness/api/model_rules.h"
#include "methods/models/ranking/snippets.h"

namespace qfs::dyle {

/// Role of the model that scores snippets.
inline constexpr const char* kExtractor = "extractor";

/// How a document is taken apart.
ranking::SnippetRule snippet_rule(const Params& params);

/// `invalid_argument`: of so many steps none is left for the generator and its gate.
Status check_extractor_steps(const Params& params, int64_t steps);

class DyleSpec final : public MethodSpec, public ModelRules {
 public:
  std::string_view name() const override { return "dyle"; }
  std::string_view doc() const override;
  int version() const override { return 3; }
  std::vector<std::string> layers(const Params& params, const BackboneFacts& facts) const override;
  std::vector<ParamSpec> params() const override;
  Needs needs(const Params& params) const override;
  Status validate(const Params& params) const override;
  Status check_backbone(const Params& params, const BackboneFacts& facts) const override;
  Status check_training(const Params& params, const TrainingFacts& facts) const override;
  Status check_example(const Params& params, const Example& example) const override;
  Status check_init(const Params& params, const Params& recipe) const override;
  Status check_model(const Params& params, const std::string& role,
                     const Resource& model) const override;
  Status check_file(const Params& params, const Params& recipe) const override;
  bool may_differ(std::string_view name) const override;
  bool trains_with(const Params& params, std::string_view name) const override;
  Cost cost(const Params& params, const DatasetStats& stats) const override;
  Cost training_cost(const Params& params, const DatasetStats& train) const override;
  bool seed_matters(const Params& params) const override;
};

}  // namespace qfs::dyle
