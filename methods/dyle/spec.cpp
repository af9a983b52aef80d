#include "methods/dyle/spec.h"

#include <algorithm>

#include "harness/api/param_specs.h"
#include "methods/dyle/rows.h"
#include "methods/models/decoding/decoding_params.h"
#include "methods/models/decoding/generation_layers.h"
#include "methods/models/prompted/chat_params.h"
#include "methods/models/prompted/prompted_params.h"
#include "methods/models/prompted/recipe_params.h"
#include "methods/models/prompted/trained_spec.h"
#include "methods/models/prompting/length_params.h"
#include "methods/models/ranking/scorer_params.h"

namespace qfs::dyle {

namespace {

constexpr double kMost = 1 << 24;
/// The mean of QMSum's meetings.
constexpr double kWordsPerSegment = 16;
/// About what the smaller extractor takes for a word, in tokens of the generator: MiniLM beside
/// SmolLM2-135M.
constexpr double kExtractedWord = 0.2;
constexpr const char* kPaper = "Mao et al. 2022";
constexpr const char* kRelease = "Yale-LILY/DYLE";

ParamSpec weight_param(const char* name, const char* doc) {
  return prompted::of_training(
      from_source(with_default(real_param(name, "", 0, 1000, doc), 1.0), kPaper));
}

void add_reading(std::vector<ParamSpec>& params) {
  params.push_back(prompted::of_both(from_source(
      with_default(choice_param("profile", {"released", "paper"},
                                "Whose rules hold where the paper and its release differ"),
                   std::string("released")),
      kRelease)));
  params.push_back(prompted::of_both(from_source(
      with_default(integer_param("k", "snippets", 1, 4096, "Read by the generator"), int64_t{5}),
      "Mao et al. 2022: 20 of QMSum, 25 of GovReport")));
  params.push_back(prompted::of_both(
      from_source(with_default(integer_param("snippet_tokens", "tokens", 2, kMost,
                                             "Longest input of the generator, the query included"),
                               int64_t{128}),
                  "the release: 300 of QMSum, 64 of reports")));
  params.push_back(prompted::of_both(from_source(
      integer_param("piece_words", "words", 1, 4096,
                    "Snippets are pieces of sentences with at most so many lower-cased tokens; "
                    "segments of the document when left out"),
      "the release: 64 of GovReport and arXiv")));
  params.push_back(prompted::of_both(integer_param(
      "passage_words", "words", 1, 4096,
      "Snippets are neighbouring segments together, with at most so many words between "
      "blanks; a longer segment is cut. Single segments when left out")));
  for (ParamSpec& param : ranking::scorer_params()) params.push_back(std::move(param));
  params.push_back(prompted::of_both(with_default(
      text_param("prompt", "What a decoder-only generator reads of {snippet} and {query}"),
      std::string(kDefaultPrompt))));
  for (ParamSpec& param : prompted::chat_params()) {
    if (param.name == "chat") {
      param.doc =
          "The prompt is a user's turn in the generator's chat template; plain when left out";
      param.default_value.reset();
    }
    params.push_back(prompted::of_both(std::move(param)));
  }
  params.push_back(prompted::of_both(with_default(
      choice_param("prior", {"dynamic", "static"},
                   "Weights of snippets: a gate of the decoder's states at each step, or the "
                   "extractor's scores at all"),
      std::string("dynamic"))));
}

void add_training(std::vector<ParamSpec>& params) {
  using prompted::of_training;
  params.push_back(of_training(with_default(
      integer_param("rank", "", 1, 4096, "Of the low-rank matrices of both models"), int64_t{8})));
  params.push_back(
      of_training(real_param("alpha", "", 0, 1e6,
                             "Scale of what they add, times the rank; the rank itself when "
                             "left out")));
  params.push_back(prompted::targets_param(
      "The generator's linear layers that are adapted, with commas; as of `lora` when left out"));
  params.push_back(of_training(text_param("extractor_targets", "The extractor's, likewise")));
  params.push_back(prompted::trained_param("Mao et al. 2022: weights, of both models"));
  params.push_back(weight_param("lambda_generation", "Weight of the generator's loss"));
  params.push_back(weight_param("lambda_oracle", "Weight of the extractor's loss on the oracle"));
  params.push_back(weight_param("lambda_consistency",
                                "Weight of the extractor's divergence from the gate's mean"));
  params.push_back(of_training(from_source(
      flag_param(
          "hybrid", true,
          "The generator learns from oracle snippets and then the extractor's; without, from "
          "the oracle's alone, or with \"lambda_oracle\": 0 from the extractor's"),
      kPaper)));
  params.push_back(of_training(from_source(
      flag_param("static_prior_grad", false,
                 "With \"prior\": \"static\" the generator's loss trains the extractor, as in RAG"),
      "Lewis et al. 2020")));
  params.push_back(of_training(from_source(
      with_default(real_param("extractor_learning_rate", "", 0, 10, "Its highest learning rate"),
                   5e-4),
      "the release, which trains all weights: 5e-5")));
  params.push_back(of_training(with_default(
      integer_param("extractor_steps", "steps", 0, kMost,
                    "At the beginning, in which the extractor alone learns from the oracle"),
      int64_t{0})));
  params.push_back(of_training(
      integer_param("train_chunks", "", 1, 4096,
                    "The extractor reads of a document at a step, those with snippets of the "
                    "oracle first; all when left out")));
  for (ParamSpec& param : prompted::dropout_params()) {
    if (param.name == "dropout") {
      param.doc =
          "Probability that an element of both models' embeddings, of what their blocks add to "
          "the residual stream, or of the states at last tokens is set to 0 in training; none "
          "when left out, unless 'dropout_rates' says otherwise";
      param.source = "RoBERTa, BART: 0.1";
    }
    params.push_back(std::move(param));
  }
  for (ParamSpec& param : prompted::training_params()) {
    if (param.name == "train_tokens" || param.name == "micro_tokens") continue;
    params.push_back(std::move(param));
  }
}

}  // namespace

ranking::SnippetRule snippet_rule(const Params& params) {
  return {.piece_words = params.find<int64_t>("piece_words"),
          .passage_words = params.find<int64_t>("passage_words")};
}

Status check_extractor_steps(const Params& params, int64_t steps) {
  const int64_t alone = params.find<int64_t>("extractor_steps").value_or(0);
  if (alone > 0 && params.find<double>("lambda_oracle") == 0.0) {
    return invalid_argument("'extractor_steps' is " + std::to_string(alone) +
                            ", whose only loss is the oracle's, and 'lambda_oracle' is 0");
  }
  if (alone < steps) return {};
  return invalid_argument("'extractor_steps' is " + std::to_string(alone) + " of " +
                          std::to_string(steps) +
                          " steps: generator and gate would learn nothing; an extractor alone is "
                          "what 'locator' trains");
}

std::string_view DyleSpec::doc() const {
  return "An extractor of snippets and a generator that mixes what it reads of each, trained "
         "together";
}

std::vector<std::string> DyleSpec::layers(const Params&, const BackboneFacts& facts) const {
  std::vector<std::string> layers = decoding::generation_layers(facts);
  layers.insert(layers.end(), {"dyle_rouge@1", "training@3", "treebank_tokens@2"});
  std::ranges::sort(layers);
  return layers;
}

std::vector<ParamSpec> DyleSpec::params() const {
  std::vector<ParamSpec> params;
  add_reading(params);
  params.push_back(with_default(
      choice_param("snippets", {"extracted", "oracle", "random", "all"},
                   "What the generator reads: the extractor's best, the oracle of the reference, "
                   "some drawn, or all there are"),
      std::string("extracted")));
  params.push_back(from_source(
      choice_param("output", {"summary", "snippets"},
                   "'snippets': what the generator would read, instead of what it writes; "
                   "'summary' when left out"),
      "Mao et al. 2022, the decomposition of precision and recall"));
  ParamSpec facts = flag_param(
      "oracle_facts", false,
      "Says of each output which share of the snippets is in the oracle, and of the oracle's");
  facts.default_value.reset();  // so that other cells have no such parameter
  params.push_back(std::move(facts));
  params.push_back(from_source(
      choice_param(
          "gate_map", {"output", "reference"},
          "Keeps the gate's weights at every step of what is written, or of the reference; "
          "none when left out"),
      "Mao et al. 2022, figure 4"));
  params.push_back(prompting::max_new_tokens_param());
  params.push_back(text_param("stop", "Text that ends the output, besides the end token"));
  params.push_back(choice_param("decoding", {"given", "checkpoint"},
                                "'checkpoint': beams, sampling and lengths that are not given are "
                                "those of the checkpoint's own settings"));
  for (ParamSpec& param : decoding::decoding_params()) params.push_back(std::move(param));
  add_training(params);
  return params;
}

Needs DyleSpec::needs(const Params& params) const {
  Needs needs;
  needs.tensors = true;
  needs.backbone = true;
  needs.backbones = {kExtractor};
  needs.model_types = {{kExtractor, ranking::scorer_types()}};
  needs.references = params.find<std::string>("snippets") == "oracle" ||
                     params.find<bool>("oracle_facts").value_or(false) ||
                     params.find<std::string>("gate_map") == "reference";
  needs.artifacts = {prompted::kAdapter};
  needs.begins_with = {"lora"};
  return needs;
}

namespace {

/// The rules about low-rank matrices, and about what is trained without them.
Status check_adapters(const DyleSpec& spec, const Params& params) {
  if (Status status = prompted::check_trained(spec, params, true); !status.ok()) return status;
  const auto targets = params.find<std::string>("extractor_targets");
  if (!targets) return {};
  if (prompted::all_weights(params)) {
    return invalid_argument(
        "'extractor_targets' is of low-rank matrices; \"trained\" is \"weights\"");
  }
  if (std::ranges::count(prompted::listed(*targets), "") == 0) return {};
  return invalid_argument("'extractor_targets' has an empty name between commas");
}

/// Something has to be learned by every part that a file holds.
Status check_losses(const Params& params) {
  const auto weight = [&](const char* name) { return params.find<double>(name).value_or(0); };
  const bool is_static = params.get<std::string>("prior") == "static";
  const bool by_gate = weight("lambda_consistency") != 0 && !is_static;
  if (weight("lambda_generation") == 0 && weight("lambda_oracle") == 0 && !by_gate) {
    return invalid_argument(
        is_static ? "'lambda_generation' and 'lambda_oracle' are 0, and without a gate there is no "
                    "loss of consistency: nothing would be learned"
                  : "'lambda_generation', 'lambda_oracle' and 'lambda_consistency' are 0: nothing "
                    "would be learned");
  }
  const auto steps = params.find<int64_t>("steps");
  return steps ? check_extractor_steps(params, *steps) : Status();
}

}  // namespace

Status DyleSpec::validate(const Params& params) const {
  if (Status status = check_snippet_prompt(params.get<std::string>("prompt")); !status.ok()) {
    return status;
  }
  if (Status chat = prompted::check_chat(params); !chat.ok()) return chat;
  if (params.find<std::string>("stop") == "") {
    return invalid_argument("'stop' is empty; leave it out to stop at the end token only");
  }
  const bool is_static = params.get<std::string>("prior") == "static";
  if (params.find<bool>("static_prior_grad").value_or(false) && !is_static) {
    return invalid_argument("'static_prior_grad' needs \"prior\": \"static\"");
  }
  if (params.has("gate_map") && is_static) {
    return invalid_argument("'gate_map' needs a gate, which \"prior\": \"static\" has none of");
  }
  if (params.find<std::string>("output") == "snippets" &&
      params.find<std::string>("gate_map") == "output") {
    return invalid_argument(
        "with \"output\": \"snippets\" nothing is written that a 'gate_map' "
        "could be of; it may be of the reference");
  }
  if (params.has("piece_words") && params.has("passage_words")) {
    return invalid_argument("snippets are pieces ('piece_words') or passages ('passage_words')");
  }
  if (params.find<int64_t>("label_tokens").value_or(2) < 2) {
    return invalid_argument("'label_tokens' is below 2: a word and what ends it");
  }
  if (params.find<double>("learning_rate") == 0.0 &&
      params.find<double>("extractor_learning_rate") != 0.0) {
    return invalid_argument(
        "'learning_rate' is 0, of which the extractor's is a multiple; set \"lambda_generation\": "
        "0 "
        "to leave the generator alone");
  }
  if (Status status = check_adapters(*this, params); !status.ok()) return status;
  if (Status status = check_losses(params); !status.ok()) return status;
  if (Status status = prompted::check_recipe(params); !status.ok()) return status;
  return decoding::check_decoding(params);
}

Status DyleSpec::check_backbone(const Params& params, const BackboneFacts& facts) const {
  if (Status kind = prompted::check_kind(params, facts); !kind.ok()) return kind;
  if (Status room = prompted::check_outputs(params, facts); !room.ok()) return room;
  const auto row = params.get<int64_t>("snippet_tokens");
  if (facts.context > 0 && row > facts.context) {
    return invalid_argument("'snippet_tokens' is " + std::to_string(row) +
                            "; the generator was trained to read " + std::to_string(facts.context) +
                            " tokens at once");
  }
  const bool own = params.get<std::string>("prompt") != kDefaultPrompt;
  const bool chat = params.find<bool>("chat").value_or(false);
  if (facts.architecture != "bart" || (!own && !chat)) return {};
  return invalid_argument(
      std::string(own ? "'prompt'" : "'chat'") +
      " is for decoder-only generators; an encoder-decoder reads \"snippet // query\"");
}

Status DyleSpec::check_training(const Params& params, const TrainingFacts& facts) const {
  return prompted::check_training_data(params, facts);
}

Status DyleSpec::check_init(const Params& params, const Params& recipe) const {
  const bool all = prompted::all_weights(params);
  if (!recipe.values().empty() && all != prompted::all_weights(recipe)) {
    return invalid_argument(all ? "it holds low-rank matrices, and all weights are trained"
                                : "it holds all weights, and low-rank matrices are trained");
  }
  if (Status same = ranking::check_score(params, recipe); !same.ok()) return same;
  return all ? Status() : prompted::check_same(params, recipe, {"rank"});
}

Status DyleSpec::check_model(const Params& params, const std::string&,
                             const Resource& model) const {
  return ranking::check_window(params, model);
}

Status DyleSpec::check_file(const Params& params, const Params& recipe) const {
  for (const char* name : {"piece_words", "passage_words"}) {
    // Without a recipe it may be the release's.
    if (recipe.values().empty() || !params.has(name) || recipe.has(name)) continue;
    return invalid_argument("it learned from other snippets, without '" + std::string(name) + "'");
  }
  const bool chat = params.find<bool>("chat").value_or(false);
  for (const char* name : {"chat", "system", "chat_date", "chat_variables"}) {
    if (!chat || recipe.values().empty() || !params.has(name) || recipe.has(name)) continue;
    return invalid_argument("it learned from other prompts, without '" + std::string(name) + "'");
  }
  if (ranking::scores_by_similarity(params)) {
    if (Status same = ranking::check_score(params, recipe); !same.ok()) return same;
  }
  if (!prompted::all_weights(params) || recipe.values().empty() || prompted::all_weights(recipe)) {
    return {};
  }
  return invalid_argument("\"trained\" is \"weights\"; the file holds low-rank matrices");
}

bool DyleSpec::may_differ(std::string_view name) const {
  return name == "profile" || name == "k" || name == "snippet_tokens" || name == "label_tokens";
}

bool DyleSpec::trains_with(const Params& params, std::string_view name) const {
  if (prompted::all_weights(params) && name == "rank") return false;
  const bool is_static = params.get<std::string>("prior") == "static";
  return name != (is_static ? "lambda_consistency" : "static_prior_grad");
}

Status DyleSpec::check_example(const Params& params, const Example& example) const {
  return ranking::check_document(example, snippet_rule(params));
}

Cost DyleSpec::cost(const Params& params, const DatasetStats& stats) const {
  const auto examples = static_cast<double>(stats.examples);
  auto k = static_cast<double>(params.get<int64_t>("k"));
  if (params.get<std::string>("snippets") == "all") {
    k = std::max(k, stats.mean_document_words / kWordsPerSegment);
  }
  const auto produced = static_cast<double>(params.get<int64_t>("max_new_tokens"));
  const auto beams = static_cast<double>(params.find<int64_t>("num_beams").value_or(1));
  const auto read = static_cast<double>(params.get<int64_t>("snippet_tokens"));
  const double extracted = stats.mean_document_words * kExtractedWord;
  Cost cost;
  if (params.find<std::string>("output") == "snippets") {
    cost.flops = examples * prompted::reading_flops(extracted);
    return cost;
  }
  cost.tokens_out = examples * produced;
  cost.flops = examples * prompted::reading_flops(extracted + k * (read + beams * produced));
  cost.bytes = examples * (prompted::weight_bytes(1 + produced) +
                           prompted::cache_bytes(k * beams * produced * (read + produced / 2)));
  return cost;
}

Cost DyleSpec::training_cost(const Params& params, const DatasetStats& train) const {
  const double batch = static_cast<double>(params.get<int64_t>("train_batch"));
  const double epochs = static_cast<double>(params.get<int64_t>("epochs"));
  const auto steps = params.find<int64_t>("steps");
  const double examples =
      steps ? static_cast<double>(*steps) * batch : epochs * static_cast<double>(train.examples);
  const auto row = static_cast<double>(params.get<int64_t>("snippet_tokens") +
                                       params.get<int64_t>("label_tokens"));
  const double tokens = static_cast<double>(params.get<int64_t>("k")) * row;
  const double passes = prompted::all_weights(params) ? 3 : 2;
  return {.flops = passes * prompted::reading_flops(
                                examples * (tokens + train.mean_document_words * kExtractedWord)),
          .bytes = 0,
          .tokens_out = 0};
}

bool DyleSpec::seed_matters(const Params& params) const {
  return decoding::may_draw(params) || params.find<std::string>("snippets") == "random";
}

}  // namespace qfs::dyle
