#include "methods/retrieve_generate/spec.h"

#include <algorithm>
#include <array>

#include "harness/api/param_specs.h"
#include "methods/models/prompting/source_layout.h"
#include "methods/models/ranking/scorer_params.h"
#include "methods/models/retrieval/bm25.h"
#include "methods/retrieve_generate/spans.h"

namespace qfs::retrieve_generate {

bool reads_spans(const Params& params) {
  return params.get<std::string>("retriever") == "locator" && params.has("spans");
}

bool ranks_by_locator(const Params& params) {
  return params.get<std::string>("retriever") == "locator" && !params.has("spans");
}

namespace {

/// What of ranking passages is not read is refused, unless it is as when left out.
Status check_ranking(const RetrieveGenerateSpec& spec, const Params& params) {
  const std::string& retriever = params.get<std::string>("retriever");
  if (retriever != "bm25") {
    const std::vector<ParamSpec> unread = retrieval::bm25_params();
    std::vector<std::string_view> names;
    for (const ParamSpec& param : unread) names.push_back(param.name);
    const Status status = prompted::check_left_out(
        spec, params, names,
        "has no effect with \"retriever\": \"" + retriever + "\"; leave it out");
    if (!status.ok()) return status;
  }
  if (!reads_spans(params)) return {};
  constexpr std::array<std::string_view, 1> kUnit = {"unit"};
  return prompted::check_left_out(
      spec, params, kUnit,
      "has no effect with 'spans', whose texts are read as they are; leave it out");
}

}  // namespace

std::string_view RetrieveGenerateSpec::doc() const {
  return "A language model reads the passages of the document that match the query best";
}

std::vector<std::string> RetrieveGenerateSpec::layers(const Params& params,
                                                      const BackboneFacts& facts) const {
  std::vector<std::string> layers = TrainedSpec::layers(params, facts);
  layers.insert(layers.end(),
                {"chinese_words@1", "extractive@2", "porter_nltk@1", "rouge_tokens@1"});
  if (ranks_by_locator(params)) {
    const std::vector<std::string> its = ranking::scorer_layers();
    layers.insert(layers.end(), its.begin(), its.end());
  }
  std::ranges::sort(layers);
  layers.erase(std::ranges::unique(layers).begin(), layers.end());
  return layers;
}

Status RetrieveGenerateSpec::check_example(const Params& params, const Example& example) const {
  if (reads_spans(params) || has_text(example)) return {};
  return data_error("the document of example '" + example.key + "' has no passage to read");
}

Needs RetrieveGenerateSpec::needs(const Params& params) const {
  Needs needs = TrainedSpec::needs(params);
  if (params.get<std::string>("retriever") == "dpr") {
    needs.backbones = {kContextEncoder, kQuestionEncoder};
    for (const std::string& role : needs.backbones) needs.model_types[role] = {"bert", "dpr"};
  }
  if (ranks_by_locator(params)) {
    needs.backbones = {ranking::kLocator};
    needs.model_types = {{ranking::kLocator, ranking::scorer_types()}};
    needs.artifacts.emplace_back(ranking::kLocator);
    needs.made_by = {{ranking::kLocator, ranking::kLocator}};
  }
  if (prompted::all_weights(params)) {
    needs.reads_files_of = {"finetune"};
    return needs;
  }
  needs.begins_with = {"lora"};
  needs.reads_files_of = {"lora"};
  return needs;
}

std::vector<ParamSpec> RetrieveGenerateSpec::adapter_params() const {
  std::vector<ParamSpec> params = prompted::lora_params();
  params.push_back(prompted::of_both(with_default(
      choice_param("retriever", {"bm25", "dpr", "locator"},
                   "Ranks passages: by the query's words, or by the distance of their vectors to "
                   "the query's, of two encoders; 'locator': as one that 'locator' trained does, "
                   "or takes the text that 'spans' have"),
      std::string("bm25"))));
  params.push_back(prompted::of_both(with_default(
      choice_param("unit", {"sentence", "turn"}, "What a passage is"), std::string("sentence"))));
  params.push_back(prompted::of_both(
      integer_param("budget", "tokens", 1, 1 << 24,
                    "Of the passages that are read; in writing local_context, and in training "
                    "train_tokens when left out")));
  params.push_back(prompted::of_both(from_source(
      text_param("spans", "Lines \"<s> query </s> text\" of a locator, or {\"file\": …}"),
      "QMSum's repository, extracted_span/")));
  params.push_back(prompted::of_both(
      choice_param("spans_missing", {"error", "document"},
                   "An example of which 'spans' have no line: an error, as when left out, or its "
                   "document is read")));
  for (ParamSpec& param : retrieval::bm25_params())
    params.push_back(prompted::of_both(std::move(param)));
  params.push_back(with_default(
      choice_param("adapter", {"none", "lora"},
                   "The backbone as it is, or with what 'trained' says, of 'lora' or 'finetune' or "
                   "trained here"),
      std::string("none")));
  params.push_back(prompted::trained_param("SQuALITY's BART behind DPR: weights"));
  return params;
}

Status RetrieveGenerateSpec::check_adapter(const Params& params) const {
  if (prompting::separates_documents(params.find<std::string>("source").value_or(""))) {
    return invalid_argument("'source' has {documents}; passages are read as one text: {document}");
  }
  if (params.has("spans") && !reads_spans(params)) {
    return invalid_argument("'spans' needs \"retriever\": \"locator\"");
  }
  if (!reads_spans(params) && params.has("spans_missing")) {
    return invalid_argument("'spans_missing' needs 'spans'");
  }
  if (Status status = check_ranking(*this, params); !status.ok()) return status;
  if (ranks_by_locator(params) && params.get<std::string>("unit") != "turn") {
    return invalid_argument(
        "\"retriever\": \"locator\" needs 'spans', or a trained locator, which ranks turns: "
        "\"unit\": \"turn\", and in \"backbones\" and \"artifact\" a 'locator'");
  }
  if (reads_spans(params)) {
    if (params.has("budget")) {
      return invalid_argument(
          "'budget' is of passages that are ranked; a locator's text is cut to "
          "'local_context'");
    }
    const auto spans = Spans::parse(params.get<std::string>("spans"), "spans");
    if (!spans.ok()) return spans.error();
    return prompted::check_trained(*this, params, prompted::has_adapter(params));
  }
  if (!params.has("budget") && !params.has("local_context")) {
    return invalid_argument(
        "'budget' is left out, and so is 'local_context': passages are read up "
        "to one of them");
  }
  return prompted::check_trained(*this, params, prompted::has_adapter(params));
}

}  // namespace qfs::retrieve_generate
