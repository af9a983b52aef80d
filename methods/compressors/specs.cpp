#include "methods/compressors/specs.h"

#include <algorithm>

#include "harness/api/param_specs.h"
#include "harness/core/json_dom.h"
#include "methods/compressors/demonstrations.h"
#include "methods/compressors/params.h"
#include "methods/models/decoding/generation_layers.h"
#include "methods/models/prompted/memory_params.h"
#include "methods/models/prompted/prompted_params.h"
#include "methods/models/prompting/prompt_template.h"

namespace qfs::compressors {

namespace {

using prompted::of_training;

constexpr int64_t kMost = 1 << 24;
constexpr const char* kResponse = "response";

ParamSpec numerics(ParamSpec spec) {
  spec.numerics = true;
  return spec;
}

ParamSpec window_param() {
  return of_training(with_default(
      integer_param("train_window", "tokens", 1, kMost, "Of a segment, in training"), kWindow));
}

ParamSpec objective_param() {
  return of_training(
      with_default(choice_param("objective", {"response", "auto_encoding"},
                                "What is learned: the summary, or the compressed document itself"),
                   std::string(kResponse)));
}

/// The same of a method that may make a bank alone.
ParamSpec objective_or_bank_param() {
  ParamSpec param = objective_param();
  param.choices.emplace_back("bank");
  param.doc += "; 'bank': nothing, a bank is made with the file that is begun with";
  return param;
}

/// Summaries do not choose where none are learned.
Status check_choice(const Params& params) {
  const std::string objective = params.find<std::string>("objective").value_or(kResponse);
  if (objective == kResponse || !prompted::chosen_by_outputs(params)) return {};
  return invalid_argument("'select_by' is of summaries, which \"objective\": \"" + objective +
                          "\" does not learn");
}

/// What differs between methods with low-rank adapters.
struct LoraDefaults {
  int64_t rank;
  double alpha;
  const char* rows;  ///< the parameter of their number
};

std::vector<ParamSpec> lora_params(const LoraDefaults& defaults) {
  std::vector<ParamSpec> params = split_params(false);
  params.push_back(of_training(with_default(
      integer_param("rank", "", 1, 4096, "Rank of what is added to layers"), defaults.rank)));
  params.push_back(of_training(with_default(
      real_param("alpha", "", 1e-6, kMost, "What is added is multiplied by alpha / rank"),
      defaults.alpha)));
  params.push_back(window_param());
  params.push_back(choice_param("segment_rows", {"window", "length"},
                                "Rows of a segment: as many as a whole window takes, as when left "
                                "out and in training, or the first of them that its own length "
                                "takes by 'ratio'"));
  params.push_back(of_training(
      integer_param(defaults.rows, "rows", 1, kMost,
                    "That stand for a segment; a twelfth of train_window when left out")));
  for (ParamSpec& param : demonstration_params()) params.push_back(std::move(param));
  params.push_back(token_shots_as());
  return params;
}

/// What a training keeps of its split, and a session reads of another's.
void add_bank(const Params& params, Needs& needs) {
  if (!has_bank(params)) return;
  needs.artifacts.emplace_back(kBank);
  needs.reads_files_of.emplace_back(kFewShot);
}

/// Whether a part of a document is compressed, be it of the longest alone; labels are chosen for
/// whole ones.
bool makes_memory(const Params& params) {
  const SplitRules rules = split_rules(params);
  const auto read = params.find<int64_t>("input_tokens");
  const bool one_window = read && *read <= rules.window && !rules.compress_short &&
                          params.find<std::string>("window_counts") != "total";
  return rules.ratio && !one_window && !params.has("labels");
}

/// The rule between the longest segment of `read` tokens, its memory and the backbone's positions.
Status check_segment(const Params& params, const BackboneFacts& facts, int64_t read) {
  const int64_t most = prompted::positions_of(params, facts);
  const SplitRules rules = split_rules(params);
  const int64_t longest = std::min(rules.window, read);
  const int64_t memory = memory_tokens(longest, rules.ratio, Rounding::ceil);
  if (most == 0 || longest + memory <= most) return {};
  return invalid_argument("'local_context' is " + std::to_string(rules.window) + ": a segment of " +
                          std::to_string(longest) + " tokens and " + std::to_string(memory) +
                          " that it becomes go over the " + std::to_string(most) +
                          " positions of the backbone");
}

}  // namespace

std::string_view SelfcpSpec::doc() const {
  return "A frozen language model compresses a part of the document into rows of its own "
         "embeddings, by a learned tag and a connector";
}

std::vector<ParamSpec> SelfcpSpec::adapter_params() const {
  std::vector<ParamSpec> params = split_params(true);
  params.push_back(with_default(
      choice_param("window_counts", {"content", "total"},
                   "What 'local_context' is of: a segment's content, or all that its compressor "
                   "reads"),
      std::string("content")));
  params.push_back(numerics(with_default(
      integer_param("segment_batch", "segments", 1, 4096, "Compressed at once, at most"),
      int64_t{8})));
  params.push_back(numerics(from_source(
      real_param("pass_ratio", "tokens", 1, kMost,
                 "Each segment is read once for the memory of this ratio, of which that of 'ratio' "
                 "is the beginning; cells of one host share passes (\"host_reuse\": \"weights\"); "
                 "a pass of its own when left out"),
      "SelfCP, Figure 5")));
  params.push_back(of_training(from_source(
      with_default(choice_param("connector", {"linear_bias_ln", "linear_bias", "linear"},
                                "One matrix, with a bias, with LayerNorm behind it"),
                   std::string("linear_bias_ln")),
      "linear: the paper; the others: its release for Vicuna and BlueLM")));
  params.push_back(of_training(with_default(
      choice_param("connector_init", {"standard", "scaled"},
                   "PyTorch's, or multiplied so that memory is as large as embeddings are"),
      std::string("standard"))));
  params.push_back(of_training(
      flag_param("train_separator", false, "The separator's embedding is trained, too")));
  params.push_back(of_training(
      from_source(with_default(integer_param("separator_id", "id", 0, kMost,
                                             "Token between the prompt and what is compressed"),
                               int64_t{3}),
                  "SelfCP's release")));
  params.push_back(of_training(from_source(
      with_default(integer_param("tag_id", "id", 0, kMost,
                                 "Token whose embedding the memory tag begins with, a rare one"),
                   int64_t{4}),
      "SelfCP's release")));
  params.push_back(window_param());
  params.push_back(of_training(
      with_default(choice_param("train_strategy", {"both", "former", "latter"},
                                "The part that is compressed in training; 'both': by a coin"),
                   std::string("both"))));
  params.push_back(of_training(with_default(
      choice_param("train_mix", {"paper", "released"},
                   "Segments on their own, or the release's five ways, some behind earlier memory"),
      std::string("paper"))));
  params.push_back(of_training(from_source(
      with_default(integer_param("ratio_min", "tokens", 1, kMost, "Least ratio that is drawn"),
                   int64_t{2}),
      "SelfCP: 2 to 16")));
  params.push_back(of_training(with_default(
      integer_param("ratio_max", "tokens", 1, kMost, "Largest ratio that is drawn"), int64_t{16})));
  params.push_back(objective_or_bank_param());
  for (ParamSpec& param : demonstration_params()) params.push_back(std::move(param));
  for (ParamSpec& param : memory_bank_params()) params.push_back(std::move(param));
  return params;
}

std::string SelfcpSpec::default_prompt() const {
  return std::string(prompting::query_first_prompt());
}

Status SelfcpSpec::check_adapter(const Params& params) const {
  const int64_t least = params.get<int64_t>("ratio_min");
  const int64_t largest = params.get<int64_t>("ratio_max");
  const int64_t window = params.get<int64_t>("train_window");
  if (least > largest || largest > window) {
    return invalid_argument("'ratio_min' is " + std::to_string(least) + ", 'ratio_max' " +
                            std::to_string(largest) + " and 'train_window' " +
                            std::to_string(window) + "; expected none above the next");
  }
  if (params.get<std::string>("train_mix") == "released" &&
      params.get<std::string>("train_strategy") != "both") {
    return invalid_argument("'train_mix' \"released\" draws the side that 'train_strategy' fixes");
  }
  if (params.get<std::string>("objective") == "auto_encoding") {
    for (const auto& [name, unread] :
         {std::pair("train_mix", "released"), std::pair("train_strategy", "former"),
          std::pair("train_strategy", "latter")}) {
      if (params.get<std::string>(name) != unread) continue;
      return invalid_argument("\"objective\": \"auto_encoding\" compresses the whole document; '" +
                              std::string(name) + "' says which part");
    }
  }
  if (Status status = check_choice(params); !status.ok()) return status;
  if (bank_alone(params) && !has_bank(params)) {
    return invalid_argument(
        "\"objective\": \"bank\" needs a 'bank': how many demonstrations are kept");
  }
  if (Status status = check_demonstrations(params, this->params()); !status.ok()) return status;
  if (Status status = check_memory_bank(params); !status.ok()) return status;
  const double ratio = params.get<double>("ratio");
  if (ratio > 0 && params.find<double>("pass_ratio").value_or(0) > ratio) {
    return invalid_argument("'pass_ratio' is above 'ratio': what is not read gives no memory");
  }
  return check_split(params, /*halves=*/true);
}

Status SelfcpSpec::check_training(const Params& params, const TrainingFacts& facts) const {
  if (bank_alone(params) && !facts.begins) {
    return invalid_argument(
        "\"objective\": \"bank\" learns nothing; name the connector that the bank is of: "
        "\"training\": {\"init\": {\"adapter\": FILE}}");
  }
  if (Status status = check_bank_data(params, facts); !status.ok()) return status;
  return TrainedSpec::check_training(params, facts);
}

Status SelfcpSpec::check_file(const Params& params, const Params& recipe) const {
  if (Status same = TrainedSpec::check_file(params, recipe); !same.ok()) return same;
  return check_bank_file(params, recipe);
}

Needs SelfcpSpec::needs(const Params& params) const {
  Needs needs = TrainedSpec::needs(params);
  if (has_bank(params)) needs.artifacts.emplace_back(kBank);
  needs.memory = makes_memory(params);
  return needs;
}

bool SelfcpSpec::seed_matters(const Params& params) const {
  return TrainedSpec::seed_matters(params) || params.find<std::string>("demonstrations") == "fixed";
}

Cost SelfcpSpec::training_cost(const Params& params, const DatasetStats& train) const {
  if (!bank_alone(params)) {
    return TrainedSpec::training_cost(params, train);
  }
  const int64_t made = std::min(params.find<int64_t>("bank").value_or(0), train.examples);
  const int64_t window = params.find<int64_t>("train_window").value_or(kWindow);
  return {.flops = prompted::reading_flops(static_cast<double>(made * window))};
}

Status SelfcpSpec::check_backbone(const Params& params, const BackboneFacts& facts) const {
  if (Status status = prompted::check_llama(name(), facts); !status.ok()) return status;
  if (params.has("local_context") && params.find<std::string>("window_counts") != "total" &&
      makes_memory(params)) {
    // Of up to two windows a half is compressed.
    const auto read = params.find<int64_t>("input_tokens");
    const Status fits = check_segment(params, facts, read ? (*read + 1) / 2 : kMost);
    if (!fits.ok()) return fits;
  }
  return TrainedSpec::check_backbone(params, facts);
}

Status LoraCompressorSpec::check_backbone(const Params& params, const BackboneFacts& facts) const {
  if (Status status = prompted::check_llama(name(), facts); !status.ok()) return status;
  if (params.has("local_context")) {
    const Status fits =
        check_segment(params, facts, params.find<int64_t>("input_tokens").value_or(kMost));
    if (!fits.ok()) return fits;
  }
  return TrainedSpec::check_backbone(params, facts);
}

Status LoraCompressorSpec::check_file(const Params& params, const Params& recipe) const {
  if (Status same = prompted::check_prompt_file(params, recipe); !same.ok()) return same;
  if (Status same = check_bank_file(params, recipe); !same.ok()) return same;
  const auto trained = recipe.find<int64_t>("train_window");
  if (!trained) return {};
  const SplitRules rules = split_rules(params);
  const int64_t rows =
      recipe.find<int64_t>(rows_param()).value_or(memory_tokens(*trained, kRatio, Rounding::ceil));
  const int64_t asked = memory_tokens(rules.window, rules.ratio, Rounding::ceil);
  if (asked <= rows) return {};
  return invalid_argument("a 'ratio' of " + shortest_decimal(params.get<double>("ratio")) +
                          " for windows of " + std::to_string(rules.window) + " tokens takes " +
                          std::to_string(asked) + " rows ('" + rows_param() + "'), and " +
                          std::to_string(rows) + " are trained");
}

Status LoraCompressorSpec::check_training(const Params& params, const TrainingFacts& facts) const {
  if (Status status = check_bank_data(params, facts); !status.ok()) return status;
  return TrainedSpec::check_training(params, facts);
}

std::string LoraCompressorSpec::default_prompt() const {
  return std::string(prompting::query_first_prompt());
}

Status LoraCompressorSpec::check_adapter(const Params& params) const {
  if (params.get<double>("ratio") == 0) {
    return invalid_argument("a 'ratio' of 0 leaves nothing of the document to read");
  }
  if (params.has(kContinuationShare) && params.get<std::string>("objective") != "auto_encoding") {
    return invalid_argument(std::string("'") + kContinuationShare +
                            "' needs \"objective\": \"auto_encoding\"");
  }
  if (Status status = check_choice(params); !status.ok()) return status;
  if (Status status = check_demonstrations(params, this->params()); !status.ok()) return status;
  return check_split(params, /*halves=*/false);
}

Needs LoraCompressorSpec::needs(const Params& params) const {
  Needs needs = TrainedSpec::needs(params);
  add_bank(params, needs);
  return needs;
}

bool LoraCompressorSpec::seed_matters(const Params& params) const {
  return TrainedSpec::seed_matters(params) || shots_of(params) > 0;
}

std::string_view AutocompressorSpec::doc() const {
  return "A language model with trained adapters reads a document segment by segment into summary "
         "rows";
}

std::vector<ParamSpec> AutocompressorSpec::adapter_params() const {
  std::vector<ParamSpec> params = lora_params({.rank = 16, .alpha = 16, .rows = rows_param()});
  params.push_back(of_training(from_source(
      choice_param("objective", {"response", "lm"},
                   "What is learned: the summary, as when left out, or every token of the document "
                   "behind the summaries of the segments before its own"),
      "lm: AutoCompressor's release")));
  return params;
}

std::string_view IcaeSpec::doc() const {
  return "A language model with trained adapters reads the beginning of a document into slots, one "
         "without them writes";
}

std::vector<ParamSpec> IcaeSpec::adapter_params() const {
  std::vector<ParamSpec> params = lora_params({.rank = 64, .alpha = 32, .rows = rows_param()});
  params.push_back(objective_param());
  params.push_back(of_training(from_source(
      real_param(kContinuationShare, "", 0, 1,
                 "Of auto-encoding's examples, the share that learns what follows what is "
                 "compressed instead; none when left out"),
      "ICAE, section 2.2")));
  return params;
}

std::vector<std::string> UntrainedSpec::layers(const Params& params,
                                               const BackboneFacts& facts) const {
  std::vector<std::string> layers = decoding::generation_layers(facts);
  if (params.find<std::string>("mode") == "official") {
    layers.emplace_back("lingua-held@1");
    if (shots_of(params) > 0) layers.emplace_back("lingua-texts@1");
  }
  return layers;
}

std::vector<ParamSpec> UntrainedSpec::params() const {
  std::vector<ParamSpec> params = prompted::prompted_params();
  for (ParamSpec& param : params) {
    if (param.name == "prompt") param.default_value = std::string(prompting::query_first_prompt());
  }
  for (ParamSpec& param : reading_params()) params.push_back(std::move(param));
  for (ParamSpec& param : demonstration_params()) params.push_back(std::move(param));
  params.push_back(of_training(
      with_default(integer_param("train_window", "tokens", 1, kMost,
                                 "Of a demonstration that is kept, the front of a longer one"),
                   kWindow)));
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
  return prompted::check_window(params, facts);
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
