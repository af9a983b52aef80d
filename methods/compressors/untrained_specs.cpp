// The specs of methods that train nothing.
#include "harness/api/param_specs.h"
#include "methods/compressors/specs.h"
#include "methods/models/decoding/generation_layers.h"
#include "methods/models/prompted/prompted_params.h"
#include "methods/models/prompting/prompt_template.h"

namespace qfs::compressors {

std::vector<std::string> UntrainedSpec::layers(const Params& params,
                                               const BackboneFacts& facts) const {
  std::vector<std::string> layers = decoding::generation_layers(facts);
  if (params.find<std::string>("mode") == "official") {
    layers.emplace_back("lingua-held@1");
    if (shots_of(params) > 0) layers.emplace_back("lingua-texts@1");
  }
  if (shots_of(params) > 0) layers.emplace_back(kShotsLayer);
  return layers;
}

std::vector<ParamSpec> UntrainedSpec::params() const {
  std::vector<ParamSpec> params = prompted::prompted_params();
  for (ParamSpec& param : params) {
    if (param.name == "prompt") param.default_value = std::string(prompting::query_first_prompt());
  }
  for (ParamSpec& param : reading_params()) params.push_back(std::move(param));
  for (ParamSpec& param : demonstration_params()) params.push_back(std::move(param));
  return params;
}

Needs UntrainedSpec::needs(const Params& params) const {
  Needs needs{.tensors = true, .backbone = true, .tokenizer = true};
  if (has_bank(params)) needs.artifacts = {kBank};
  return needs;
}

std::vector<Unit> UntrainedSpec::units(const Params& params,
                                       std::span<const NumberedExample> examples) const {
  return prompted::prompted_units(*this, params, examples);
}

Status UntrainedSpec::validate(const Params& params) const {
  if (params.find<bool>("prefix_reuse").value_or(false)) {
    return invalid_argument("'prefix_reuse' is of zero_shot; here demonstrations are read anew");
  }
  if (Status status = check_demonstrations(params, this->params()); !status.ok()) return status;
  return prompted::check_prompted(params);
}

Status UntrainedSpec::check_backbone(const Params& params, const BackboneFacts& facts) const {
  if (Status status = prompted::check_llama(name(), facts); !status.ok()) return status;
  const Status fits = check_demonstration_positions(params, facts.context);
  return fits.ok() ? prompted::check_window(params, facts) : fits;
}

Status UntrainedSpec::check_file(const Params& params, const Params& recipe) const {
  return check_bank_file(params, recipe);
}

Cost UntrainedSpec::cost(const Params& params, const DatasetStats& stats) const {
  return prompted::prompted_cost(params, stats);
}

bool UntrainedSpec::seed_matters(const Params& params) const {
  return decoding::may_draw(params) || shots_of(params) > 0;
}

std::string_view FewShotSpec::doc() const {
  return "A language model reads demonstrations, the document and the query, and writes the "
         "summary or chooses a label";
}

std::string_view LlmlinguaSpec::doc() const {
  return "A part of the document is shortened to the tokens that a language model finds surprising";
}

std::vector<ParamSpec> LlmlinguaSpec::reading_params() const {
  std::vector<ParamSpec> params = split_params(true);
  params.push_back(token_shots_as());
  params.push_back(from_source(
      with_default(choice_param("mode", {"exact", "official"},
                                "As many tokens as SelfCP has memory, or as version 0.1.5 of the "
                                "tool chooses"),
                   std::string("exact")),
      "LLMLingua"));
  params.push_back(from_source(with_default(integer_param("choice_window", "tokens", 1, kMost,
                                                          "Tokens that are chosen from at once"),
                                            int64_t{200}),
                               "LLMLingua's iterative_size"));
  params.push_back(from_source(
      choice_param("losses_of", {"backbone", kSmallLm},
                   "The model that finds tokens surprising: the one that writes, as when left out, "
                   "or one of the role 'small_lm'"),
      "LLMLingua"));
  return params;
}

Needs LlmlinguaSpec::needs(const Params& params) const {
  Needs needs = UntrainedSpec::needs(params);
  if (has_bank(params)) needs.reads_files_of = {kFewShot};
  if (params.find<std::string>("losses_of") == kSmallLm) {
    needs.backbones = {kSmallLm};
    needs.model_types[kSmallLm] = {"llama", "mistral", "qwen2", "BlueLM", "gpt2"};
  }
  needs.memory = makes_memory(params);
  return needs;
}

Status LlmlinguaSpec::validate(const Params& params) const {
  if (Status status = check_split(params, /*halves=*/true); !status.ok()) return status;
  return UntrainedSpec::validate(params);
}

}  // namespace qfs::compressors
