#include "methods/unlimiformer/spec.h"

#include "harness/api/param_specs.h"
#include "methods/models/prompted/prompted_params.h"
#include "methods/models/prompted/recipe_params.h"

namespace qfs::unlimiformer {

namespace {

constexpr const char* kPaper = "Bertsch et al. 2023";

Status check_mode(const Params& params) {
  const std::string mode = mode_of(params);
  if (mode == kTestTime) return {};
  if (!prompted::has_adapter(params)) {
    return invalid_argument("'mode' is '" + mode +
                            "', a way to train; \"adapter\": \"none\" is the backbone as it is");
  }
  if (params.get<std::string>("train_dtype") == "float32") return {};
  return invalid_argument("'train_dtype' is '" + params.get<std::string>("train_dtype") +
                          "'; unlimiformer retrieves in float32");
}

}  // namespace

std::string mode_of(const Params& params) {
  return params.find<std::string>("mode").value_or(kTestTime);
}

std::string_view UnlimiformerSpec::doc() const {
  return "An encoder-decoder that retrieves of a source of any length what its attention asks for";
}

Needs UnlimiformerSpec::needs(const Params& params) const {
  Needs needs = TrainedSpec::needs(params);
  needs.model_types["backbone"] = {"bart", "mbart", "pegasus"};  // without windows
  if (prompted::all_weights(params)) return needs;
  needs.begins_with = {"lora"};
  needs.reads_files_of = {"lora"};
  return needs;
}

bool UnlimiformerSpec::trains_with(const Params& params, std::string_view name) const {
  if (mode_of(params) != kTestTime) return true;
  // A training on beginnings retrieves for outputs that choose, if at all.
  if (name == "retrieved" || name == "overlap") return prompted::chosen_by_outputs(params);
  return name != "mode";
}

std::vector<ParamSpec> UnlimiformerSpec::adapter_params() const {
  std::vector<ParamSpec> params = prompted::lora_params();
  params.push_back(prompted::of_both(from_source(
      with_default(choice_param("mode", {kTestTime, "random_encoded", "retrieval", "alternating"},
                                "How it was trained: on the beginnings of its sources; on states "
                                "of long ones that each layer draws; on those that each position "
                                "and head retrieves; on both, by turns"),
                   std::string(kTestTime)),
      kPaper)));
  params.push_back(prompted::of_both(from_source(
      integer_param("retrieved", "tokens", 1, 1 << 24,
                    "Of the source that a head attends to; as many as the encoder reads when left "
                    "out"),
      kPaper)));
  params.push_back(prompted::of_both(from_source(
      with_default(real_param("overlap", "", 0, 0.99,
                              "Of the encoder's windows, the share that their neighbours read too"),
                   0.5),
      kPaper)));
  params.push_back(with_default(
      choice_param("adapter", {"none", "lora"},
                   "The backbone as it is, or with what 'trained' says, low-rank matrices of "
                   "'lora' or trained here"),
      std::string("none")));
  params.push_back(prompted::trained_param("Bertsch et al. 2023: weights"));
  params.push_back(prompted::of_training(
      integer_param(kSelectTokens, "tokens", 1, 1 << 24,
                    "Of a document that outputs which choose among evaluations read, with "
                    "retrieval; train_tokens when left out")));
  return params;
}

Status UnlimiformerSpec::check_adapter(const Params& params) const {
  for (const char* name : {"window", "source_positions", "global_attention"}) {
    if (!params.has(name)) continue;
    return invalid_argument("'" + std::string(name) +
                            "' is for encoders with windowed attention; unlimiformer's reads "
                            "windows of a source one by one");
  }
  if (Status status = check_mode(params); !status.ok()) return status;
  return prompted::check_trained(*this, params, prompted::has_adapter(params));
}

Status UnlimiformerSpec::check_backbone(const Params& params, const BackboneFacts& facts) const {
  if (facts.architecture == "bart") return prompted::check_outputs(params, facts);
  return invalid_argument("unlimiformer is for encoder-decoders; this backbone is computed as '" +
                          facts.architecture + "'");
}

}  // namespace qfs::unlimiformer
