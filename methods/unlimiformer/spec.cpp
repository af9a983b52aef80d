#include "methods/unlimiformer/spec.h"

#include "harness/api/param_specs.h"

namespace qfs::unlimiformer {

namespace {

constexpr const char* kPaper = "Bertsch et al. 2023";

}  // namespace

bool has_adapter(const Params& params) { return params.get<std::string>("adapter") == "lora"; }

std::string_view UnlimiformerSpec::doc() const {
  return "An encoder-decoder that retrieves of a source of any length what its attention asks for";
}

Needs UnlimiformerSpec::needs(const Params& params) const {
  Needs needs = TrainedSpec::needs(params);
  if (!has_adapter(params)) needs.artifacts.clear();
  needs.begins_with = {"lora"};
  needs.reads_files_of = {"lora"};
  return needs;
}

std::vector<ParamSpec> UnlimiformerSpec::adapter_params() const {
  std::vector<ParamSpec> params = prompted::lora_params();
  params.push_back(from_source(
      with_default(choice_param("mode", {"test_time"},
                                "Where retrieval takes place: in writing alone, of a model that "
                                "learned on the beginnings of its sources"),
                   std::string("test_time")),
      kPaper));
  params.push_back(from_source(
      integer_param("retrieved", "tokens", 1, 1 << 24,
                    "Of the source that a head attends to; as many as the encoder reads when left "
                    "out"),
      kPaper));
  params.push_back(from_source(
      with_default(real_param("overlap", "", 0, 0.99,
                              "Of the encoder's windows, the share that their neighbours read too"),
                   0.5),
      kPaper));
  params.push_back(with_default(
      choice_param("adapter", {"none", "lora"},
                   "The backbone as it is, or with low-rank matrices of 'lora' or trained here"),
      std::string("none")));
  return params;
}

Status UnlimiformerSpec::check_adapter(const Params& params) const {
  for (const char* name : {"window", "source_positions", "global_attention"}) {
    if (!params.has(name)) continue;
    return invalid_argument("'" + std::string(name) +
                            "' is for encoders with windowed attention; unlimiformer's reads "
                            "windows of a source one by one");
  }
  return prompted::check_targets(params);
}

Status UnlimiformerSpec::check_backbone(const Params&, const BackboneFacts& facts) const {
  if (facts.architecture == "bart") return {};
  return invalid_argument("unlimiformer is for encoder-decoders; this backbone is computed as '" +
                          facts.architecture + "'");
}

}  // namespace qfs::unlimiformer
