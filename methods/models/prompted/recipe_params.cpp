#include "methods/models/prompted/recipe_params.h"

#include <algorithm>
#include <string>
#include <utility>

#include "harness/api/param_specs.h"
#include "harness/core/json_dom.h"
#include "methods/models/decoding/decoding_params.h"

namespace qfs::prompted {

namespace {

constexpr double kMost = 1 << 24;

ParamSpec numerics_of_training(ParamSpec spec) {
  spec.numerics = true;
  return of_training(std::move(spec));
}

/// Off when left out; no part of an identity that does not ask for it.
ParamSpec optional_flag(const char* name, const char* doc, const char* source) {
  ParamSpec param = numerics_flag(name, doc);
  param.numerics = false;
  return from_source(std::move(param), source);
}

void add_optimizer_params(std::vector<ParamSpec>& params) {
  params.push_back(of_training(
      with_default(real_param("learning_rate", "", 0, 10, "Highest learning rate"), 1e-3)));
  params.push_back(of_training(with_default(
      integer_param("train_batch", "examples", 1, kMost, "Examples of an optimizer step"),
      int64_t{8})));
  params.push_back(of_training(with_default(
      integer_param("epochs", "", 1, 10000, "Passes over the training examples"), int64_t{1})));
  params.push_back(
      of_training(integer_param("steps", "", 1, kMost, "Optimizer steps, instead of epochs")));
  params.push_back(of_training(with_default(
      real_param("warmup", "", 0, 1, "Share of the steps in which the learning rate rises"),
      0.05)));
  params.push_back(of_training(
      optional_flag("warmup_from_zero", "It rises from 0, so that the first step changes nothing",
                    "IDEAL's release")));
  params.push_back(of_training(with_default(
      choice_param("schedule", {"constant", "linear", "cosine"}, "Its way down behind them"),
      std::string("cosine"))));
  params.push_back(of_training(with_default(
      real_param("weight_decay", "", 0, 10, "AdamW's decoupled decay; without any it is Adam"),
      0.0)));
  params.push_back(of_training(from_source(
      real_param("beta2", "", 0, 1, "AdamW's memory of squared gradients; 0.999 when left out"),
      "IDEAL's release: 0.95")));
  params.push_back(of_training(with_default(
      real_param("clip_norm", "", 0, kMost, "Longest gradient; 0: as long as it is"), 1.0)));
}

/// Outputs that choose are decoded as others are, but that no token is drawn.
void add_selecting_params(std::vector<ParamSpec>& params) {
  for (ParamSpec& param : decoding::decoding_params()) {
    if (param.name == "temperature" || std::ranges::count(decoding::drawing_params(), param.name)) {
      continue;
    }
    param.doc = "As '" + param.name + "', of outputs that choose among evaluations";
    param.name.insert(0, kSelect);
    params.push_back(of_training(std::move(param)));
  }
}

void add_data_params(std::vector<ParamSpec>& params) {
  params.push_back(of_training(
      with_default(integer_param("train_tokens", "tokens", 2, kMost,
                                 "Tokens of an example, at most; its document is cut to fit"),
                   kTrainTokens)));
  params.push_back(of_training(with_default(
      integer_param("label_tokens", "tokens", 1, kMost, "Of its summary, at most"), kLabelTokens)));
  params.push_back(of_training(with_default(
      choice_param("data_order", {"shuffled", "file"}, "Order of the examples in an epoch"),
      std::string("shuffled"))));
  params.push_back(of_training(
      optional_flag("whole_batches", "Examples that an epoch leaves of a batch are not read",
                    "IDEAL's release")));
  params.push_back(of_training(with_default(
      integer_param(
          "evaluate_every", "steps", 0, kMost,
          "Between evaluations on development examples, of which the best is kept, the first among "
          "equals; 0: none"),
      int64_t{50})));
  params.push_back(
      of_training(with_default(integer_param("patience", "evaluations", 0, kMost,
                                             "Without a better one that end training; 0: none do"),
                               int64_t{0})));
  params.push_back(of_training(from_source(
      integer_param(kHalveAfter, "evaluations", 1, kMost,
                    "In a row without a better one that halve the learning rate; the epoch of the "
                    "third halving is the last. None do when left out"),
      "DYLE's release, as it was meant: 5")));
  params.push_back(of_training(choice_param(
      kSelectBy, {"loss", "rouge1", "rouge2", "rougeL", "rouge_sum"},
      "What chooses among evaluations: the loss on development examples, which it is when left "
      "out, or F of ROUGE (rouge_score, stemmed) of outputs of label_tokens for them; rouge_sum is "
      "the three together")));
  add_selecting_params(params);
  params.push_back(of_training(
      with_default(choice_param("train_dtype", {"float32", "bfloat16"},
                                "In which the backbone computes; what is trained is float32"),
                   std::string("float32"))));
  params.push_back(of_training(with_default(
      choice_param("save_dtype", {"float32", "bfloat16"}, "In which the adapter is kept"),
      std::string("float32"))));
  params.push_back(
      numerics_of_training(integer_param("micro_tokens", "tokens", 1, kMost,
                                         "Computed at once, at most; train_tokens when left out")));
  ParamSpec recompute = numerics_of_training(numerics_flag(
      "recompute", "Layers are computed again for gradients, which takes less memory"));
  params.push_back(from_source(std::move(recompute), "Chen et al. 2016"));
  ParamSpec every = with_default(
      integer_param(
          "checkpoint_every", "steps", 1, kMost,
          "Between checkpoints to go on from; after a step that ends three minutes or more "
          "behind the last there is one, too"),
      int64_t{20});
  every.transport = true;
  params.push_back(of_training(std::move(every)));
}

}  // namespace

std::vector<ParamSpec> training_params() {
  std::vector<ParamSpec> params;
  add_optimizer_params(params);
  add_data_params(params);
  return params;
}

bool chosen_by_outputs(const Params& params) {
  return params.find<std::string>(kSelectBy).value_or("loss") != "loss";
}

Params selecting_decoding(const Params& params) {
  Params selecting;
  for (const ParamSpec& param : decoding::decoding_params()) {
    const auto asked = params.values().find(std::string(kSelect) + param.name);
    if (asked != params.values().end()) selecting.set(param.name, asked->second);
  }
  if (const auto labels = params.find<int64_t>("label_tokens")) {
    selecting.set("max_new_tokens", *labels);
  }
  return selecting;
}

namespace {

Status check_selecting(const Params& params) {
  for (const auto& [name, value] : params.values()) {
    if (!name.starts_with(kSelect) || name == kSelectBy || chosen_by_outputs(params)) continue;
    return invalid_argument("'" + name +
                            "' is of outputs that choose; it needs a \"select_by\" other than "
                            "\"loss\"");
  }
  const Status fits = decoding::check_decoding(selecting_decoding(params));
  if (fits.ok()) return fits;
  return invalid_argument("of outputs that choose ('select_…', and at most 'label_tokens'), " +
                          fits.error().message);
}

}  // namespace

Status check_recipe(const Params& params) {
  if (Status status = check_selecting(params); !status.ok()) return status;
  for (const char* name : {kSelectBy, kHalveAfter}) {
    if (params.has(name) && params.get<int64_t>("evaluate_every") == 0) {
      return invalid_argument("'" + std::string(name) +
                              "' needs evaluations; 'evaluate_every' is 0");
    }
  }
  if (params.has(kHalveAfter) && params.get<int64_t>("patience") > 0) {
    return invalid_argument("'halve_after' ends a training by its own rule; leave 'patience' out");
  }
  if (params.has("steps") && params.get<int64_t>("epochs") != 1) {
    return invalid_argument("'steps' and 'epochs' both say how long a training is; leave one out");
  }
  return {};
}

Status check_training_data(const Params& params, const TrainingFacts& facts) {
  if (facts.development) return {};
  const auto wants = [](const char* name) -> Status {
    std::string message = "'";
    message.append(name).append(
        "' chooses by development examples; 'training' has no 'development'");
    return invalid_argument(std::move(message));
  };
  if (chosen_by_outputs(params)) return wants(kSelectBy);
  if (params.has(kHalveAfter)) return wants(kHalveAfter);
  if (params.get<int64_t>("patience") > 0) return wants("patience");
  return {};
}

namespace {

constexpr const char* kDropout = "dropout";
constexpr const char* kAttentionDropout = "attention_dropout";
constexpr const char* kActivationDropout = "activation_dropout";
constexpr const char* kDropoutRates = "dropout_rates";

ParamSpec dropout_param(const char* name, const char* doc, const char* source) {
  return of_training(from_source(real_param(name, "", 0, 0.99, doc), source));
}

}  // namespace

std::vector<ParamSpec> dropout_params() {
  return {
      dropout_param(kDropout,
                    "Probability that an element of an encoder-decoder's embeddings, or of what "
                    "its blocks add to the residual stream, is set to 0 in training; none when "
                    "left out, unless 'dropout_rates' says otherwise",
                    "BART, LED: 0.1"),
      dropout_param(kAttentionDropout, "Likewise of attention's weights", "BART base: 0.1"),
      dropout_param(kActivationDropout, "Likewise of what an MLP's second layer reads",
                    "BART base: 0.1"),
      of_training(choice_param(kDropoutRates, {"given", "checkpoint"},
                               "'checkpoint': what is left out of the three is as the model's "
                               "config.json says; 'given' when left out: it is none"))};
}

Result<nn::DropoutRates> dropout_rates(const Params& params, const nn::DropoutRates& checkpoint) {
  const bool others = params.find<std::string>(kDropoutRates) == "checkpoint";
  const auto rate = [&](const char* name, double its) {
    return params.find<double>(name).value_or(others ? its : 0);
  };
  const nn::DropoutRates rates{.residual = rate(kDropout, checkpoint.residual),
                               .attention = rate(kAttentionDropout, checkpoint.attention),
                               .activation = rate(kActivationDropout, checkpoint.activation)};
  for (const double one : {rates.residual, rates.attention, rates.activation}) {
    if (one >= 0 && one < 1) continue;
    return data_error("the checkpoint's configuration has a dropout of " + shortest_decimal(one) +
                      "; expected one from 0 to below 1");
  }
  return rates;
}

std::vector<std::string_view> encoder_decoder_names() {
  return {kDecoderStart, kDropout, kAttentionDropout, kActivationDropout, kDropoutRates};
}

ParamSpec of_training(ParamSpec spec) {
  spec.stage = Stage::train;
  return spec;
}

ParamSpec of_both(ParamSpec spec) {
  spec.stage = Stage::both;
  return spec;
}

}  // namespace qfs::prompted
