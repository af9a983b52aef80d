#include "methods/egad/spec.h"

#include "harness/api/param_specs.h"
#include "methods/egad/dictionary.h"
#include "methods/egad/keywords.h"

namespace qfs::egad {

namespace {

constexpr const char* kPaper = "arXiv 2410.08971";

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
      with_default(choice_param("keywords", {"frequency", "random", "gibberish", "summary"},
                                "Frequent here and rare in general; or words drawn from the "
                                "document, strings of letters, or those of the reference"),
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
  params.push_back(prompted::of_training(
      text_param("dictionary",
                 "Lines \"word count\" or \"word\" by rank, or {\"file\": …}; counts of the "
                 "training documents when left out")));
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
  return prompted::check_targets(params);
}

Status EgadSpec::check_backbone(const Params& params, const BackboneFacts& facts) const {
  if (params.get<std::string>("attention") != "global" || facts.architecture == "bart") return {};
  return invalid_argument(
      "\"attention\": \"global\" is for encoders with windows (LED); this backbone is computed as "
      "'" +
      facts.architecture + "': give \"attention\": \"prefix\"");
}

bool EgadSpec::reads_references(const Params& params) const {
  return params.find<std::string>("keywords") == "summary";
}

}  // namespace qfs::egad
