#include "methods/locator/spec.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "harness/api/param_specs.h"
#include "methods/models/prompted/prompted_params.h"
#include "methods/models/prompted/trained_spec.h"
#include "methods/models/ranking/scorer_params.h"

namespace qfs::locator {

namespace {

constexpr double kMost = 1 << 24;

/// Of prompted::training_params those that are about prompts, outputs and backbones.
constexpr std::array<std::string_view, 4> kOfGenerators = {"train_tokens", "label_tokens",
                                                           "micro_tokens", "train_dtype"};

/// A word is about so many tokens of an encoder, which is a tenth of a generator.
double reading_flops(double words) { return prompted::reading_flops(words * 1.3) / 10; }

}  // namespace

std::string_view LocatorSpec::name() const { return ranking::kLocator; }

std::string_view LocatorSpec::doc() const {
  return "The turns that a trained encoder finds for the query";
}

std::vector<std::string> LocatorSpec::layers(const Params&, const BackboneFacts&) const {
  std::vector<std::string> layers = ranking::scorer_layers();
  layers.insert(layers.end(), {"chinese_words@1", "dyle_rouge@1", "extractive@2", "tokenizers@5",
                               "training@3", "treebank_tokens@2", "truncation@1"});
  std::ranges::sort(layers);
  return layers;
}

std::vector<ParamSpec> LocatorSpec::params() const {
  using prompted::of_training;
  std::vector<ParamSpec> params = {integer_param(
      "local_context", "tokens", 1, kMost,
      "Of the turns that are written, the best first; the last one taken is cut there")};
  ParamSpec facts = flag_param(
      "evidence_facts", false,
      "Says of each output which share of its turns is gold evidence, and of the evidence's");
  facts.default_value.reset();  // so that other cells have no such parameter
  params.push_back(std::move(facts));
  for (ParamSpec& param : ranking::scorer_params()) params.push_back(std::move(param));
  params.push_back(of_training(with_default(
      choice_param(
          "learn_from", {"evidence", "oracle"},
          "The turns to be found: the data's gold evidence, or DYLE's greedy oracle of the "
          "reference"),
      std::string("evidence"))));
  for (ParamSpec& param : prompted::lora_params()) params.push_back(std::move(param));
  params.push_back(of_training(
      integer_param("train_chunks", "", 1, 4096,
                    "Of a document, read at a step, half of them with turns to be found as far as "
                    "there are others; all when left out")));
  for (ParamSpec& param : prompted::training_params()) {
    if (std::ranges::count(kOfGenerators, param.name) > 0) continue;
    if (!param.name.starts_with(prompted::kSelect)) params.push_back(std::move(param));
  }
  return params;
}

Needs LocatorSpec::needs(const Params& params) const {
  Needs needs;
  needs.tensors = true;
  needs.tokenizer = true;
  needs.backbones = {ranking::kLocator};
  needs.model_types = {{ranking::kLocator, ranking::scorer_types()}};
  needs.artifacts = {ranking::kLocator};
  needs.evidence = params.find<bool>("evidence_facts").value_or(false);
  needs.learns_evidence = params.find<std::string>("learn_from") == "evidence";
  return needs;
}

Status LocatorSpec::validate(const Params& params) const {
  if (!params.has("local_context")) {
    return invalid_argument(
        "'local_context' is left out; give it the tokens of the turns that are written");
  }
  if (Status status = prompted::check_recipe(params); !status.ok()) return status;
  return prompted::check_targets(params);
}

Status LocatorSpec::check_model(const Params& params, const std::string&,
                                const Resource& model) const {
  return ranking::check_window(params, model);
}

Status LocatorSpec::check_init(const Params& params, const Params& recipe) const {
  if (Status same = ranking::check_score(params, recipe); !same.ok()) return same;
  return prompted::check_same(params, recipe, {"rank"});
}

Cost LocatorSpec::cost(const Params& params, const DatasetStats& stats) const {
  const auto examples = static_cast<double>(stats.examples);
  const auto written = static_cast<double>(params.get<int64_t>("local_context"));
  Cost cost;
  cost.flops = examples * reading_flops(stats.mean_document_words);
  cost.bytes = cost.flops / 2;
  cost.tokens_out = examples * std::min(written, 1.3 * stats.mean_document_words);
  return cost;
}

Cost LocatorSpec::training_cost(const Params& params, const DatasetStats& train) const {
  const auto batch = static_cast<double>(params.get<int64_t>("train_batch"));
  const auto steps = params.find<int64_t>("steps");
  const double examples = steps ? static_cast<double>(*steps) * batch
                                : static_cast<double>(params.get<int64_t>("epochs")) *
                                      static_cast<double>(train.examples);
  return {.flops = 2 * examples * reading_flops(train.mean_document_words),
          .bytes = 0,
          .tokens_out = 0};
}

}  // namespace qfs::locator
