#include "methods/zero_shot/spec.h"

#include "methods/models/decoding/generation_layers.h"
#include "methods/models/prompted/prompt_text.h"
#include "methods/models/prompted/prompted_params.h"
#include "methods/models/prompting/length_params.h"

namespace qfs::zero_shot {

std::string_view ZeroShotSpec::doc() const {
  return "A language model reads the document and the query and writes the summary";
}

std::vector<std::string> ZeroShotSpec::layers(const Params&, const BackboneFacts& facts) const {
  return decoding::generation_layers(facts);
}

std::vector<ParamSpec> ZeroShotSpec::params() const {
  return prompting::with_total_length(prompted::prompted_params());
}

Needs ZeroShotSpec::needs(const Params&) const {
  return {.tensors = true, .backbone = true, .tokenizer = true};
}

std::vector<Unit> ZeroShotSpec::units(const Params& params,
                                      std::span<const NumberedExample> examples) const {
  return prompted::prompted_units(*this, params, examples);
}

Status ZeroShotSpec::validate(const Params& params) const {
  return prompted::check_prompted(params);
}

Status ZeroShotSpec::check_backbone(const Params& params, const BackboneFacts& facts) const {
  return prompted::check_window(params, facts);
}

std::optional<TokenBound> ZeroShotSpec::token_bound(const Params& params,
                                                    const Example& example) const {
  return prompted::prompt_bound(params, example);
}

Cost ZeroShotSpec::cost(const Params& params, const DatasetStats& stats) const {
  return prompted::prompted_cost(params, stats);
}

}  // namespace qfs::zero_shot
