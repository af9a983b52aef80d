#include "methods/models/prompted/trained_spec.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/api/param_specs.h"
#include "harness/core/json_dom.h"
#include "methods/models/decoding/generation_layers.h"
#include "methods/models/prompted/memory_params.h"
#include "methods/models/prompted/prompt_text.h"
#include "methods/models/prompted/prompted_params.h"
#include "methods/models/prompting/prompt_template.h"

namespace qfs::prompted {

namespace {

constexpr const char* kSmoothing = "label_smoothing";
constexpr const char* kSelectMinLength = "select_min_length";

/// What a model reads is the same when it learns and when it writes.
constexpr std::array<std::string_view, 12> kReading = {
    "truncate", "prompt",    "system",           "chat",   "chat_date",        "chat_variables",
    "source",   "separator", "global_attention", "window", "source_positions", kPromptPieces};

/// Of learning to write.
std::vector<ParamSpec> label_params() {
  std::vector<ParamSpec> params;
  params.push_back(of_training(from_source(
      real_param(kSmoothing, "", 0, 0.999,
                 "Share of the loss that is the mean over the vocabulary; that of development "
                 "examples is without. 0 when left out"),
      "PRIMERA, ConvoSumm: 0.1")));
  params.push_back(of_training(from_source(
      choice_param(kDecoderStart, {"eos_bos", "bos"},
                   "What an encoder-decoder's decoder begins with in training: its start token and "
                   "the summary's first, as when left out, or the latter alone; in writing it "
                   "begins with its start token"),
      "bos: AllenAI's code (PRIMERA, ConvoSumm)")));
  for (ParamSpec& param : dropout_params()) params.push_back(std::move(param));
  return params;
}

}  // namespace

ParamSpec targets_param(std::string doc) {
  return of_training(
      from_source(text_param("targets", std::move(doc)), "IDEAL's release: q, k, v, o, w3"));
}

std::vector<ParamSpec> lora_params() {
  return {
      of_training(from_source(
          with_default(integer_param("rank", "", 1, 4096, "Rank of what is added to each layer"),
                       int64_t{8}),
          "IDEAL, Table 3: 8 and 16")),
      of_training(
          real_param("alpha", "", 1e-6, 1 << 24,
                     "What is added is multiplied by alpha / rank; the rank when left out")),
      targets_param(
          "Layers to adapt, with commas, by the ends of their names in the checkpoint; when left "
          "out all projections of attention and the first of the MLP, without its gate")};
}

Status check_targets(const Params& params) {
  if (const auto targets = params.find<std::string>("targets")) {
    for (const std::string& target : listed(*targets)) {
      if (target.empty()) return invalid_argument("'targets' has an empty name between commas");
    }
  }
  return {};
}

ParamSpec trained_param(std::string source) {
  return of_both(
      from_source(choice_param("trained", {"lora", "weights"},
                               "Low-rank matrices, as when left out, or all of the backbone"),
                  std::move(source)));
}

bool has_adapter(const Params& params) { return params.find<std::string>("adapter") != "none"; }

bool all_weights(const Params& params) { return params.find<std::string>("trained") == "weights"; }

Status check_left_out(const MethodSpec& spec, const Params& params,
                      std::span<const std::string_view> names, const std::string& why) {
  for (const ParamSpec& param : spec.params()) {
    if (std::ranges::count(names, param.name) == 0) continue;
    const auto value = params.values().find(param.name);
    if (value == params.values().end() || value->second == param.default_value) continue;
    return invalid_argument("'" + param.name + "' " + why);
  }
  return {};
}

Status check_trained(const MethodSpec& spec, const Params& params, bool adapter) {
  if (!all_weights(params)) return check_targets(params);
  constexpr std::array<std::string_view, 3> kLowRank = {"rank", "alpha", "targets"};
  if (Status status = check_left_out(spec, params, kLowRank,
                                     "is of low-rank matrices; \"trained\" is \"weights\"");
      !status.ok()) {
    return status;
  }
  if (!adapter) {
    return invalid_argument(
        "\"adapter\": \"none\" is the backbone as it is; 'trained' says "
        "what is trained of it");
  }
  return check_trained_weights(params);
}

Status check_trained_weights(const Params& params) {
  if (params.get<std::string>("train_dtype") != "float32") {
    return invalid_argument("'train_dtype' is '" + params.get<std::string>("train_dtype") +
                            "'; all weights are trained in float32");
  }
  if (!params.has("window")) return {};
  return invalid_argument(
      "'window' makes another model of the backbone, which no folder of it says: convert it first");
}

Status check_weights_init() {
  return invalid_argument(
      "a training of all weights begins with those of its backbone, which a trained folder may be");
}

std::vector<std::string> TrainedSpec::layers(const Params& params,
                                             const BackboneFacts& facts) const {
  std::vector<std::string> layers = decoding::generation_layers(facts);
  // What 2 changes is how the release's preset reads; whoever raises it makes both 3.
  if (has_memory(params))
    layers.emplace_back(memory_form(params).released ? "memory@2" : "memory@1");
  layers.emplace_back("training@3");
  std::ranges::sort(layers);
  return layers;
}

std::vector<ParamSpec> TrainedSpec::params() const {
  std::vector<ParamSpec> params = prompted_params();
  for (ParamSpec& param : params) {
    if (std::ranges::count(kReading, param.name) > 0) param.stage = Stage::both;
    if (param.name == "prompt") param.default_value = default_prompt();
  }
  for (ParamSpec& param : adapter_params()) params.push_back(std::move(param));
  for (ParamSpec& param : training_params()) params.push_back(std::move(param));
  for (ParamSpec& param : label_params()) params.push_back(std::move(param));
  return params;
}

std::string TrainedSpec::default_prompt() const { return std::string(prompting::default_prompt()); }

Needs TrainedSpec::needs(const Params& params) const {
  Needs needs{.tensors = true,
              .backbone = true,
              .tokenizer = true,
              .references = reads_references(params),
              .memory = has_memory(params)};
  if (has_adapter(params)) needs.artifacts = {kAdapter};
  return needs;
}

bool TrainedSpec::trains_weights(const Params& params) const { return all_weights(params); }

std::vector<Unit> TrainedSpec::units(const Params& params,
                                     std::span<const NumberedExample> examples) const {
  return prompted_units(*this, params, examples);
}

Status TrainedSpec::validate(const Params& params) const {
  if (Status status = check_adapter(params); !status.ok()) return status;
  const int64_t labels = params.get<int64_t>("label_tokens");
  const int64_t tokens = params.get<int64_t>("train_tokens");
  if (labels >= tokens) {
    return invalid_argument("'label_tokens' is " + std::to_string(labels) +
                            "; 'train_tokens', which hold the document too, are " +
                            std::to_string(tokens));
  }
  if (Status status = check_recipe(params); !status.ok()) return status;
  if (!has_adapter(params)) {
    std::vector<std::string_view> of_training = encoder_decoder_names();
    of_training.insert(of_training.end(), {kHalveAfter, kSmoothing});
    const Status status =
        check_left_out(*this, params, of_training,
                       "is of training; \"adapter\": \"none\" is the backbone as it is");
    if (!status.ok()) return status;
  }
  return check_prompted(params);
}

Status check_kind(const Params& params, const BackboneFacts& facts) {
  std::vector<std::string_view> names = encoder_decoder_names();
  names.emplace_back(kSelectMinLength);
  for (const std::string_view name : names) {
    if (!params.has(name) || facts.architecture == "bart") continue;
    return invalid_argument("'" + std::string(name) +
                            "' is for encoder-decoder backbones; this one is computed as '" +
                            facts.architecture + "'");
  }
  return {};
}

namespace {

Status check_train_tokens(const Params& params, const BackboneFacts& facts) {
  const auto tokens = params.find<int64_t>("train_tokens");
  const int64_t most = positions_of(params, facts);
  // Those that nobody asked for are as many as fit.
  if (most == 0 || !tokens || *tokens <= std::max(most, kTrainTokens)) return {};
  if (params.has("window")) return {};
  return invalid_argument("'train_tokens' is " + std::to_string(*tokens) + "; a sequence has " +
                          std::to_string(most) + " tokens at most" +
                          (has_memory(params) ? ", unless 'positions' asks for more" : ""));
}

}  // namespace

Status check_llama(std::string_view method, const BackboneFacts& facts) {
  if (facts.architecture == "llama") return {};
  return unavailable("'" + std::string(method) +
                     "' is for backbones of the LLaMA family; this one is computed as '" +
                     facts.architecture + "'");
}

Status TrainedSpec::check_backbone(const Params& params, const BackboneFacts& facts) const {
  if (Status status = check_kind(params, facts); !status.ok()) return status;
  if (Status status = check_train_tokens(params, facts); !status.ok()) return status;
  if (Status status = check_memory_window(params, facts); !status.ok()) return status;
  return check_window(params, facts);
}

Status TrainedSpec::check_file(const Params& params, const Params& recipe) const {
  if (Status same = check_prompt_file(params, recipe); !same.ok()) return same;
  return check_memory_file(params, recipe);
}

Status check_prompt_file(const Params& params, const Params& recipe) {
  if (!recipe.has("prompt")) return {};  // no recipe of ours
  for (const char* name : {kPromptPieces, kRepeatQuery}) {
    // A recipe has the flag where it was on, and what is left out is as there.
    if (!params.find<bool>(name).value_or(false) || recipe.has(name)) continue;
    return invalid_argument(std::string("'") + name + "' is not as the file was trained");
  }
  return {};
}

Status check_same(const Params& params, const Params& recipe,
                  std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto own = params.values().find(name);
    const auto its = recipe.values().find(name);
    if (own == params.values().end() || its == recipe.values().end()) continue;
    const auto text = [&](const ParamValue& value) {
      if (const auto* words = std::get_if<std::string>(&value)) {
        if (name != "targets") return *words;
        std::vector<std::string> targets = listed(*words);
        std::ranges::sort(targets);
        std::string in_order;
        for (const std::string& target : targets)
          in_order += (in_order.empty() ? "" : ",") + target;
        return in_order;
      }
      if (const auto* number = std::get_if<double>(&value)) return shortest_decimal(*number);
      if (const auto* flag = std::get_if<bool>(&value))
        return std::string(*flag ? "true" : "false");
      return std::to_string(std::get<int64_t>(value));
    };
    if (text(own->second) == text(its->second)) continue;
    return invalid_argument("its " + std::string(name) + " is " + text(its->second) +
                            ", the training's " + text(own->second));
  }
  return {};
}

Status TrainedSpec::check_init(const Params& params, const Params& recipe) const {
  if (trains_weights(params)) return check_weights_init();
  if (Status same = check_memory_init(params, recipe); !same.ok()) return same;
  return check_same(params, recipe,
                    {"rank", "alpha", "targets", "adapter", "generated", "generated_layers",
                     "hyper_encoder", "hyper_bottleneck", "connector", "train_separator",
                     "separator_id", "tag_id", "mem_size", "summary_length"});
}

std::optional<TokenBound> TrainedSpec::token_bound(const Params& params,
                                                   const Example& example) const {
  return prompt_bound(params, example);
}

Cost TrainedSpec::cost(const Params& params, const DatasetStats& stats) const {
  return prompted_cost(params, stats);
}

Cost TrainedSpec::training_cost(const Params& params, const DatasetStats& train) const {
  // A forward pass and as much again for gradients; where weights have them, once more.
  const double batch = static_cast<double>(params.get<int64_t>("train_batch"));
  const double epochs = static_cast<double>(params.get<int64_t>("epochs"));
  const auto steps = params.find<int64_t>("steps");
  double epoch = static_cast<double>(train.examples);
  if (params.find<bool>("whole_batches").value_or(false)) {
    epoch = std::max(1.0, std::floor(epoch / batch)) * batch;
  }
  const double read = steps ? static_cast<double>(*steps) * batch : epochs * epoch;
  const double tokens = read * static_cast<double>(params.get<int64_t>("train_tokens"));
  const double passes = trains_weights(params) ? 3 : 2;
  return {.flops = passes * reading_flops(tokens), .bytes = 0, .tokens_out = 0};
}

std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> parts = {""};
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else if (c != ' ') {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace qfs::prompted
