// The spec of a method that trains a backbone, or what is added to it, and then writes with it: the
// parameters of prompting, of training and of its data, and the rules between them.
//
// Base of the specs of such methods, which add what is trained (lora). Torch-free. Stateless and
// thread-safe. The sessions are prompted_session.h and adapter_training.h.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/method.h"
#include "harness/api/model_rules.h"
#include "methods/models/decoding/decoding_params.h"
#include "methods/models/prompted/recipe_params.h"

namespace qfs::prompted {

/// Refuses what is of learning with an encoder-decoder for a backbone of another kind.
Status check_kind(const Params& params, const BackboneFacts& facts);

/// Role of the trained file.
inline constexpr const char* kAdapter = "adapter";

class TrainedSpec : public MethodSpec, public ModelRules {
 public:
  std::vector<std::string> layers(const Params& params, const BackboneFacts& facts) const override;
  std::vector<ParamSpec> params() const final;
  Needs needs(const Params& params) const override;
  std::vector<Unit> units(const Params& params,
                          std::span<const NumberedExample> examples) const final;
  Status validate(const Params& params) const final;
  Status check_backbone(const Params& params, const BackboneFacts& facts) const override;
  /// What is added has the rank of the file.
  Status check_init(const Params& params, const Params& recipe) const override;
  Status check_training(const Params& params, const TrainingFacts& facts) const override {
    return check_training_data(params, facts);
  }
  Status check_model(const Params&, const std::string&, const Resource&) const override {
    return {};
  }
  Status check_file(const Params& params, const Params& recipe) const override;
  bool may_differ(std::string_view) const override { return false; }
  std::optional<TokenBound> token_bound(const Params& params, const Example& example) const final;
  Cost cost(const Params& params, const DatasetStats& stats) const final;
  Cost training_cost(const Params& params, const DatasetStats& train) const override;
  bool seed_matters(const Params& params) const override { return decoding::may_draw(params); }

 protected:
  /// What is trained.
  virtual std::vector<ParamSpec> adapter_params() const = 0;
  /// Where `prompt` is left out.
  virtual std::string default_prompt() const;
  virtual Status check_adapter(const Params& params) const = 0;
  /// Whether weights have gradients, which a training takes as much time again for as for all else.
  virtual bool trains_weights(const Params& params) const;
  /// Needs::references, beside those that training has.
  virtual bool reads_references(const Params&) const { return false; }
};

/// "targets", which `doc` describes, and the rule about it.
ParamSpec targets_param(std::string doc);
Status check_targets(const Params& params);

/// What low-rank adapters are: `rank`, `alpha`, `targets`.
std::vector<ParamSpec> lora_params();

/// Refuses those of `names` that are given and not their defaults: "'NAME' WHY".
Status check_left_out(const MethodSpec& spec, const Params& params,
                      std::span<const std::string_view> names, const std::string& why);

/// Whether something trained is read, which of some methods "adapter": "none" says it is not.
bool has_adapter(const Params& params);

/// "trained": low-rank matrices, as when left out, or with "weights" all of the backbone; whether
/// it says the latter; and the rules about both. `adapter`: whether anything trained is read.
ParamSpec trained_param(std::string source);
bool all_weights(const Params& params);
Status check_trained(const MethodSpec& spec, const Params& params, bool adapter);

/// `unavailable` for a backbone of another family, into whose layers the method cannot reach.
Status check_llama(std::string_view method, const BackboneFacts& facts);

/// ModelRules::check_file: prompts are in pieces, and show the query twice, where those that the
/// file learnt from do.
Status check_prompt_file(const Params& params, const Params& recipe);

/// A training goes on with a file that has these parameters of its own, where both say them.
Status check_same(const Params& params, const Params& recipe,
                  std::initializer_list<std::string_view> names);

/// The rules of trainings of all weights: what they compute in, what their folder is, and that
/// nothing trained is begun with.
Status check_trained_weights(const Params& params);
Status check_weights_init();

/// The parts of a comma-separated list, without spaces around them.
std::vector<std::string> listed(const std::string& text);

}  // namespace qfs::prompted
