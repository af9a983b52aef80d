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

constexpr const char* kResponse = "response";
constexpr const char* kPassRatio = "pass_ratio";
constexpr const char* kSeparatorRow = "train_separator";

ParamSpec numerics(ParamSpec spec) {
  spec.numerics = true;
  return spec;
}

ParamSpec window_param() {
  return of_training(with_default(
      integer_param("train_window", "tokens", 1, kMost, "Of a segment, in training"), kWindow));
}

/// That nothing is learned, as all methods have it.
ParamSpec or_bank(ParamSpec objective) {
  objective.choices.emplace_back("bank");
  objective.doc += "; 'bank': nothing, a bank is made with the file that is begun with";
  return of_training(std::move(objective));
}

ParamSpec objective_param() {
  return or_bank(
      with_default(choice_param("objective", {"response", "auto_encoding"},
                                "What is learned: the summary, or the compressed document itself"),
                   std::string(kResponse)));
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
  params.push_back(choice_param(kSegmentRows, {"window", "length"},
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

/// The rule between the longest segment of `read` tokens, its memory and the backbone's positions.
Status check_segment(const Params& params, const BackboneFacts& facts, int64_t read) {
  const int64_t most = prompted::positions_of(params, facts);
  const SplitRules rules = split_rules(params);
  const int64_t longest = std::min(rules.window, read);
  const auto pass = params.find<double>(kPassRatio);
  const Ratio ratio = pass && rules.ratio ? pass : rules.ratio;
  const int64_t memory = memory_tokens(longest, ratio, Rounding::ceil);
  if (most == 0 || longest + memory <= most) return {};
  return invalid_argument("'local_context' is " + std::to_string(rules.window) + ": a segment of " +
                          std::to_string(longest) + " tokens and " + std::to_string(memory) +
                          " that it becomes go over the " + std::to_string(most) +
                          " positions of the backbone");
}

}  // namespace

std::vector<std::string> TrainedCompressorSpec::layers(const Params& params,
                                                       const BackboneFacts& facts) const {
  std::vector<std::string> layers = TrainedSpec::layers(params, facts);
  // Before, demonstrations were as long as the window of the training.
  const bool longer = has_bank(params) && params.find<int64_t>("train_window") != kWindow;
  if (shots_of(params) > 0 || longer) layers.emplace_back(kShotsLayer);
  if (params.find<std::string>("train_mix") == "released") layers.emplace_back("released-mix@2");
  std::ranges::sort(layers);
  return layers;
}

Status TrainedCompressorSpec::check_backbone(const Params& params,
                                             const BackboneFacts& facts) const {
  if (Status status = prompted::check_llama(name(), facts); !status.ok()) return status;
  const Status fits = check_demonstration_positions(params, prompted::positions_of(params, facts));
  return fits.ok() ? TrainedSpec::check_backbone(params, facts) : fits;
}

Status TrainedCompressorSpec::check_training(const Params& params,
                                             const TrainingFacts& facts) const {
  if (bank_alone(params) && !facts.begins) {
    return invalid_argument(
        "\"objective\": \"bank\" learns nothing; name the trained file that the bank is of: "
        "\"training\": {\"init\": {\"adapter\": FILE}}");
  }
  if (Status status = check_bank_data(params, facts); !status.ok()) return status;
  if (bank_alone(params) && facts.development) {
    return invalid_argument("'development' is of learning; \"objective\": \"bank\" learns nothing");
  }
  return TrainedSpec::check_training(params, facts);
}

Cost TrainedCompressorSpec::training_cost(const Params& params, const DatasetStats& train) const {
  if (!bank_alone(params)) return TrainedSpec::training_cost(params, train);
  const int64_t made = std::min(params.find<int64_t>("bank").value_or(0), train.examples);
  const auto tokens = static_cast<double>(made * demonstration_tokens(params));
  return {.flops = prompted::reading_flops(tokens)};
}

std::string TrainedCompressorSpec::default_prompt() const {
  return std::string(prompting::query_first_prompt());
}

Status TrainedCompressorSpec::check_compressor(const Params& params) const {
  if (Status status = check_choice(params); !status.ok()) return status;
  const std::vector<ParamSpec> all = this->params();
  if (bank_alone(params)) {
    if (!has_bank(params)) {
      return invalid_argument(
          "\"objective\": \"bank\" needs a 'bank': how many demonstrations are kept");
    }
    const std::vector<std::string_view> kept = of_banks();
    std::vector<std::string_view> learning;
    for (const ParamSpec& param : all) {
      if (param.stage != Stage::train || std::ranges::count(kept, param.name) > 0) continue;
      learning.push_back(param.name);
    }
    const Status status = prompted::check_left_out(
        *this, params, learning, "is of learning; \"objective\": \"bank\" learns nothing");
    if (!status.ok()) return status;
  }
  return check_demonstrations(params, all);
}

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
      real_param(kPassRatio, "tokens", 1, kMost,
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
  params.push_back(
      of_training(flag_param(kSeparatorRow, false, "The separator's embedding is trained, too")));
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
  params.push_back(objective_param());
  for (ParamSpec& param : demonstration_params()) params.push_back(std::move(param));
  for (ParamSpec& param : memory_bank_params()) params.push_back(std::move(param));
  return params;
}

std::vector<std::string_view> SelfcpSpec::of_banks() const {
  return {"objective", "connector", kSeparatorRow, "tag_id", "separator_id", "save_dtype"};
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
  if (Status status = check_compressor(params); !status.ok()) return status;
  if (Status status = check_memory_bank(params); !status.ok()) return status;
  const double ratio = params.get<double>("ratio");
  const double pass = ratio > 0 ? params.find<double>(kPassRatio).value_or(ratio) : ratio;
  if (pass > ratio) {
    return invalid_argument("'pass_ratio' is above 'ratio': what is not read gives no memory");
  }
  if (pass < ratio && params.get<std::string>("window_counts") == "total") {
    return invalid_argument(
        "\"window_counts\": \"total\" leaves room for the memory of 'ratio'; that of 'pass_ratio' "
        "is longer");
  }
  return check_split(params, /*halves=*/true);
}

Status SelfcpSpec::check_file(const Params& params, const Params& recipe) const {
  if (Status same = TrainedSpec::check_file(params, recipe); !same.ok()) return same;
  if (Status same = check_bank_file(params, recipe); !same.ok()) return same;
  return check_memory_bank_file(params, recipe);
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

Status SelfcpSpec::check_backbone(const Params& params, const BackboneFacts& facts) const {
  if (params.has("local_context") && params.find<std::string>("window_counts") != "total" &&
      makes_memory(params)) {
    // Of up to two windows a half is compressed.
    const auto read = params.find<int64_t>("input_tokens");
    const Status fits = check_segment(params, facts, read ? (*read + 1) / 2 : kMost);
    if (!fits.ok()) return fits;
  }
  return TrainedCompressorSpec::check_backbone(params, facts);
}

Status LoraCompressorSpec::check_backbone(const Params& params, const BackboneFacts& facts) const {
  if (params.has("local_context")) {
    const Status fits =
        check_segment(params, facts, params.find<int64_t>("input_tokens").value_or(kMost));
    if (!fits.ok()) return fits;
  }
  return TrainedCompressorSpec::check_backbone(params, facts);
}

Status LoraCompressorSpec::check_file(const Params& params, const Params& recipe) const {
  if (Status same = prompted::check_prompt_file(params, recipe); !same.ok()) return same;
  if (Status same = check_bank_file(params, recipe); !same.ok()) return same;
  const auto trained = recipe.find<int64_t>("train_window");
  if (!trained || !compresses(params)) return {};  // of a bank alone, or no recipe of ours
  const SplitRules rules = split_rules(params);
  const int64_t rows = rows_of(recipe);
  const int64_t asked = memory_tokens(rules.window, rules.ratio, Rounding::ceil);
  if (asked <= rows) return {};
  return invalid_argument("a 'ratio' of " + shortest_decimal(params.get<double>("ratio")) +
                          " for windows of " + std::to_string(rules.window) + " tokens takes " +
                          std::to_string(asked) + " rows ('" + rows_param() + "'), and " +
                          std::to_string(rows) + " are trained");
}

int64_t LoraCompressorSpec::rows_of(const Params& recipe) const {
  return recipe.find<int64_t>(rows_param())
      .value_or(memory_tokens(recipe.get<int64_t>("train_window"), kRatio, Rounding::ceil));
}

Status LoraCompressorSpec::check_init(const Params& params, const Params& recipe) const {
  if (Status same = TrainedSpec::check_init(params, recipe); !same.ok()) return same;
  const auto window = recipe.find<int64_t>("train_window");
  if (!window) return {};
  if (bank_alone(params)) return prompted::check_same(params, recipe, {"train_window"});
  if (rows_of(params) == rows_of(recipe)) return {};
  return invalid_argument("it has " + std::to_string(rows_of(recipe)) + " rows ('" + rows_param() +
                          "') of windows of " + std::to_string(*window) +
                          " tokens, and the training " + std::to_string(rows_of(params)));
}

Status LoraCompressorSpec::check_adapter(const Params& params) const {
  if (params.get<double>("ratio") == 0) {
    return invalid_argument("a 'ratio' of 0 leaves nothing of the document to read");
  }
  for (const char* name : {"local_context", "train_window"}) {
    const auto window = params.find<int64_t>(name);
    if (!window || *window >= least_window()) continue;
    return invalid_argument("'" + std::string(name) + "' is " + std::to_string(*window) +
                            "; the token in front of a text takes one of them, so that nothing "
                            "is read");
  }
  if (params.has(kContinuationShare) && params.get<std::string>("objective") != "auto_encoding") {
    return invalid_argument(std::string("'") + kContinuationShare +
                            "' needs \"objective\": \"auto_encoding\"");
  }
  if (Status status = check_compressor(params); !status.ok()) return status;
  return check_split(params, /*halves=*/false);
}

std::vector<std::string_view> LoraCompressorSpec::of_banks() const {
  return {"objective", "rank", "alpha", "train_window", rows_param(), "save_dtype"};
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
  params.push_back(or_bank(from_source(
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

}  // namespace qfs::compressors
