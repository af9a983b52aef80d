#include "methods/egad/spec.h"

#include "harness/api/param_specs.h"
#include "methods/egad/dictionary.h"
#include "methods/egad/keyword_inputs.h"
#include "methods/egad/keywords.h"

namespace qfs::egad {

namespace {

constexpr const char* kPaper = "arXiv 2410.08971";
constexpr const char* kDictionary = "dictionary";
constexpr const char* kSpelling = "spelling";

/// Whether keywords are words of a text that the dictionary has.
bool by_dictionary(const Params& params) {
  const std::string& keywords = params.get<std::string>("keywords");
  return keywords != "random" && keywords != "gibberish";
}

/// What of the rule of keywords the kind that is asked for does not read is refused.
Status check_rule(const EgadSpec& spec, const Params& params) {
  const std::string& keywords = params.get<std::string>("keywords");
  std::vector<std::string_view> unread = {"keyword_set"};
  if (!by_dictionary(params)) {
    unread = {"keyword_score", "keyword_min", "keyword_form", kSpelling};
  }
  if (keywords == "highlighted") {
    unread.insert(unread.end(), {"keyword_form", "keyword_separator"});
  }
  if (keywords == "gibberish" || keywords == "summary") unread.emplace_back("keyword_speakers");
  return prompted::check_left_out(
      spec, params, unread, "has no effect with \"keywords\": \"" + keywords + "\"; leave it out");
}

/// Lists of words that are given.
Status check_lists(const Params& params) {
  for (const char* name : {kDictionary, kSpelling}) {
    const auto text = params.find<std::string>(name);
    if (!text) continue;
    if (!text->empty() && text->find_first_of(" \t\n") == std::string::npos) {
      return invalid_argument("'" + std::string(name) + "' is \"" + *text +
                              "\", one word; expected lines of words, or a file's: {\"file\": \"" +
                              *text + "\"}");
    }
    if (const auto parsed = Dictionary::parse(*text, name); !parsed.ok()) return parsed.error();
  }
  if (params.has(kDictionary) && params.has(kSpelling)) {
    return invalid_argument(
        "'spelling' is of counting the training documents; 'dictionary' has its own words");
  }
  return {};
}

}  // namespace

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
      choice_param("keyword_speakers", {"counted", "left_out"},
                   "Of names of speakers in front of what is said, which are words as others when "
                   "left out")));
  params.push_back(prompted::of_both(choice_param("keyword_separator", {"space", "sep"},
                                                  "Between keywords and document in an encoder's "
                                                  "source: a blank, as when left out, or {sep}")));
  params.push_back(prompted::of_both(
      text_param(kDictionary,
                 "Lines \"word count\" or \"word\" by rank, or {\"file\": …}; counts of the "
                 "training documents when left out")));
  params.push_back(prompted::of_training(text_param(
      kSpelling,
      "Lines \"word\", or {\"file\": …}: of the training documents these alone are counted; "
      "counts beside them are passed over")));
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
  if (Status status = check_lists(params); !status.ok()) return status;
  const bool highlighted = params.get<std::string>("keywords") == "highlighted";
  if (highlighted && params.get<std::string>("attention") != "global") {
    return invalid_argument(
        "highlighted keywords have no prefix: they need \"attention\": \"global\"");
  }
  const bool apart = params.find<std::string>("keyword_separator") == "sep";
  if (params.has("separator") && !highlighted && !apart) {
    return invalid_argument(
        "'separator' needs \"keyword_separator\": \"sep\": a blank stands behind the keywords");
  }
  if (!highlighted && params.has("highlight_most")) {
    return invalid_argument("'highlight_most' needs \"keywords\": \"highlighted\"");
  }
  if (!prompted::has_adapter(params) && by_dictionary(params) && !params.has(kDictionary)) {
    return invalid_argument(
        "'dictionary' is left out, and without a training there are no documents to count; give "
        "lines \"word count\" or {\"file\": …}");
  }
  if (Status status = check_rule(*this, params); !status.ok()) return status;
  if (!prompted::has_adapter(params) && params.has(kSpelling)) {
    return invalid_argument("'spelling' is of training; \"adapter\": \"none\" has none");
  }
  return prompted::check_trained(*this, params, prompted::has_adapter(params));
}

Needs EgadSpec::needs(const Params& params) const {
  Needs needs = TrainedSpec::needs(params);
  const bool global = params.find<std::string>("attention").value_or("global") == "global";
  // With 'window' a BART is computed as the LED that it is converted to.
  if (global && !params.has("window")) needs.model_types["backbone"] = {"led"};
  if (prompted::has_adapter(params) && !prompted::all_weights(params)) needs.begins_with = {"lora"};
  return needs;
}

Status EgadSpec::check_example(const Params&, const Example& example) const {
  return KeywordInputs::check_document(example);
}

Status EgadSpec::check_file(const Params& params, const Params& recipe) const {
  const bool of_ours = recipe.has("prompt");
  if (of_ours && params.has(kDictionary) && !recipe.has(kDictionary)) {
    return invalid_argument(
        "'dictionary' is given, but the file was trained with counts of its training documents");
  }
  return TrainedSpec::check_file(params, recipe);
}

Status EgadSpec::check_backbone(const Params& params, const BackboneFacts& facts) const {
  if (facts.architecture == "bart") return TrainedSpec::check_backbone(params, facts);
  if (params.get<std::string>("attention") == "global") {
    return invalid_argument(
        "\"attention\": \"global\" is for encoders with windows (LED); this backbone is computed "
        "as '" +
        facts.architecture + "': give \"attention\": \"prefix\"");
  }
  if (params.has("keyword_separator")) {
    return invalid_argument(
        "'keyword_separator' is for encoder-decoder backbones; this one is computed as '" +
        facts.architecture + "'");
  }
  return TrainedSpec::check_backbone(params, facts);
}

bool EgadSpec::reads_references(const Params& params) const {
  return params.find<std::string>("keywords") == "summary";
}

}  // namespace qfs::egad
