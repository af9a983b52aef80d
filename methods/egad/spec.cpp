#include "methods/egad/spec.h"

#include <algorithm>

#include "harness/api/param_specs.h"
#include "methods/egad/dictionary.h"
#include "methods/egad/keywords.h"

namespace qfs::egad {

namespace {

constexpr const char* kPaper = "arXiv 2410.08971";

/// Whether keywords are words of a text that the dictionary has.
bool by_dictionary(const Params& params) {
  const std::string& keywords = params.get<std::string>("keywords");
  return keywords != "random" && keywords != "gibberish";
}

/// What of the rule of keywords the kind that is asked for does not read is refused, unless it is
/// as when left out.
Status check_rule(const EgadSpec& spec, const Params& params) {
  const std::string& keywords = params.get<std::string>("keywords");
  std::vector<std::string_view> unread = {"keyword_set"};
  if (!by_dictionary(params)) unread = {"keyword_score", "keyword_min", "keyword_form"};
  if (keywords == "highlighted") unread.emplace_back("keyword_form");
  for (const ParamSpec& param : spec.params()) {
    if (std::ranges::count(unread, param.name) == 0) continue;
    const auto value = params.values().find(param.name);
    if (value == params.values().end() || value->second == *param.default_value) continue;
    return invalid_argument("'" + param.name + "' has no effect with \"keywords\": \"" + keywords +
                            "\"; leave it out");
  }
  return {};
}

/// It is of training an encoder-decoder.
Status check_decoder_start(const Params& params, const BackboneFacts& facts) {
  if (!params.has("decoder_start")) return {};
  if (!has_adapter(params)) {
    return invalid_argument(
        "'decoder_start' is of training; \"adapter\": \"none\" is the backbone as it is");
  }
  if (facts.architecture == "bart") return {};
  return invalid_argument(
      "'decoder_start' is for encoder-decoder backbones; this one is computed as '" +
      facts.architecture + "'");
}

}  // namespace

bool has_adapter(const Params& params) { return params.get<std::string>("adapter") == "lora"; }

std::string_view EgadSpec::doc() const {
  return "A language model whose input begins with keywords of its document, trained on examples";
}

std::vector<ParamSpec> EgadSpec::adapter_params() const {
  std::vector<ParamSpec> params = prompted::lora_params();
  params.push_back(prompted::of_both(
      from_source(with_default(integer_param("k", "keywords", 1, 10000, "In front of the document"),
                               int64_t{20}),
                  "arXiv 2410.08971: 10, 20, 50, 100")));
  params.push_back(prompted::of_both(from_source(
      with_default(
          choice_param("keywords", {"frequency", "random", "gibberish", "highlighted", "summary"},
                       "Frequent here and rare in general; or words drawn from the "
                       "document, strings of letters, those of the reference; "
                       "'highlighted': the first, not in front, but where they stand"),
          std::string("frequency")),
      kPaper)));
  params.push_back(prompted::of_both(from_source(
      with_default(choice_param("attention", {"global", "prefix"},
                                "'global': an encoder with windows (LED) attends to them from all "
                                "places; 'prefix': they stand there, for any backbone"),
                   std::string("global")),
      kPaper)));
  params.push_back(prompted::of_both(
      with_default(choice_param("keyword_score", score_names(),
                                "What is set against how common a word is in the dictionary"),
                   score_names().front())));
  params.push_back(prompted::of_both(with_default(
      integer_param("keyword_min", "occurrences", 1, 10000, "Of a keyword in the text"),
      int64_t{1})));
  params.push_back(prompted::of_both(with_default(
      choice_param("keyword_form", {"lower", "surface"},
                   "As the dictionary has it, or as the document writes it most often"),
      std::string("lower"))));
  params.push_back(prompted::of_both(with_default(
      integer_param("keyword_set", "", 0, 1 << 30, "Which draw of random words or gibberish"),
      int64_t{0})));
  params.push_back(prompted::of_both(
      integer_param("highlight_most", "tokens", 1, 1 << 24,
                    "Of highlighted words, which are global; whole words in the document's order, "
                    "all when left out")));
  params.push_back(prompted::of_both(
      text_param("dictionary",
                 "Lines \"word count\" or \"word\" by rank, or {\"file\": …}; counts of the "
                 "training documents when left out")));
  params.push_back(prompted::of_training(from_source(
      choice_param("decoder_start", {"eos_bos", "bos"},
                   "What an encoder-decoder's decoder begins with in training: its start token and "
                   "the summary's first, as when left out, or the latter alone; in writing it "
                   "begins with its start token"),
      "bos: AllenAI's code (PRIMERA, ConvoSumm)")));
  params.push_back(
      with_default(choice_param("adapter", {"lora", "none"},
                                "What was trained, or the backbone as it is (zero-shot)"),
                   std::string("lora")));
  params.push_back(prompted::trained_param("arXiv 2410.08971: weights"));
  return params;
}

Status EgadSpec::check_adapter(const Params& params) const {
  if (params.get<std::string>("truncate") != "head") {
    return invalid_argument("'truncate' is '" + params.get<std::string>("truncate") +
                            "'; keywords stand in front, so that egad keeps the head");
  }
  for (const char* name : {"source", "global_attention"}) {
    if (!params.has(name)) continue;
    return invalid_argument("'" + std::string(name) +
                            "' is not free: keywords stand in front of the document");
  }
  if (const auto text = params.find<std::string>("dictionary")) {
    const auto parsed = Dictionary::parse(*text, "dictionary");
    if (!parsed.ok()) return parsed.error();
  }
  const bool highlighted = params.get<std::string>("keywords") == "highlighted";
  if (highlighted && params.get<std::string>("attention") != "global") {
    return invalid_argument(
        "highlighted keywords have no prefix: they need \"attention\": \"global\"");
  }
  if (!highlighted && params.has("highlight_most")) {
    return invalid_argument("'highlight_most' needs \"keywords\": \"highlighted\"");
  }
  if (!has_adapter(params) && by_dictionary(params) && !params.has("dictionary")) {
    return invalid_argument(
        "'dictionary' is left out, and without a training there are no documents to count; give "
        "lines \"word count\" or {\"file\": …}");
  }
  if (Status status = check_rule(*this, params); !status.ok()) return status;
  return prompted::check_trained(params, has_adapter(params));
}

Status EgadSpec::check_init(const Params& params, const Params& recipe) const {
  if (trains_weights(params)) return prompted::check_weights_init();
  return TrainedSpec::check_init(params, recipe);
}

bool EgadSpec::trains_weights(const Params& params) const { return prompted::all_weights(params); }

Needs EgadSpec::needs(const Params& params) const {
  Needs needs = TrainedSpec::needs(params);
  if (!has_adapter(params)) needs.artifacts.clear();
  const bool global = params.find<std::string>("attention").value_or("global") == "global";
  // With 'window' a BART is computed as the LED that it is converted to.
  if (global && !params.has("window")) needs.model_types["backbone"] = {"led"};
  return needs;
}

Status EgadSpec::check_backbone(const Params& params, const BackboneFacts& facts) const {
  if (Status status = check_decoder_start(params, facts); !status.ok()) return status;
  if (params.get<std::string>("attention") != "global" || facts.architecture == "bart") {
    return TrainedSpec::check_backbone(params, facts);
  }
  return invalid_argument(
      "\"attention\": \"global\" is for encoders with windows (LED); this backbone is computed as "
      "'" +
      facts.architecture + "': give \"attention\": \"prefix\"");
}

bool EgadSpec::reads_references(const Params& params) const {
  return params.find<std::string>("keywords") == "summary";
}

}  // namespace qfs::egad
