#include "methods/extractive/specs.h"

#include <algorithm>
#include <string>

#include "harness/api/param_specs.h"
#include "methods/models/prompting/length_params.h"
#include "methods/models/retrieval/bm25.h"
#include "methods/models/retrieval/script.h"
#include "metrics/rouge/rouge_scorer.h"

namespace qfs::extractive {
namespace {

constexpr const char* kTextRankSource = "Mihalcea & Tarau 2004, section 2";

/// What one method declares besides the parameters that all have.
struct Declaration {
  std::string name;
  std::string doc;
  int version = 1;
  std::vector<std::string> layers;
  std::vector<ParamSpec> params;
  std::optional<int64_t> default_max_words = 64;
  bool reads_references = false;
  bool draws = false;        ///< the seed matters
  double work_per_word = 1;  ///< operations per document word and example
  double work_per_pair = 0;  ///< operations per pair of document words and example
};

/// At least 1.
ParamSpec count_param(std::string name, std::string unit, std::string doc) {
  ParamSpec param = integer_param(std::move(name), std::move(unit), 1, 1, std::move(doc));
  param.maximum.reset();
  return param;
}

std::vector<ParamSpec> common_params(const Declaration& method) {
  ParamSpec max_words =
      count_param("max_words", "words", "longest summary; the last passage taken is cut there");
  if (method.default_max_words) {
    max_words.default_value = ParamValue(*method.default_max_words);
  } else {
    max_words.doc += "; absent: no limit";
  }
  return {prompting::local_context_param(), prompting::truncate_param(), std::move(max_words),
          choice_param("script", retrieval::script_names(),
                       "rules for sentences and words; chinese: words by ICU, limits in "
                       "characters; absent: by the example's language")};
}

class ExtractiveSpec final : public MethodSpec {
 public:
  explicit ExtractiveSpec(Declaration declaration) : method_(std::move(declaration)) {
    for (const char* shared : {"chinese_words@1", "extractive@2", "truncation@1"})
      method_.layers.emplace_back(shared);
    std::sort(method_.layers.begin(), method_.layers.end());
  }

  std::string_view name() const override { return method_.name; }
  std::string_view doc() const override { return method_.doc; }
  int version() const override { return method_.version; }
  std::vector<std::string> layers(const Params&, const BackboneFacts&) const override {
    return method_.layers;
  }

  std::vector<ParamSpec> params() const override {
    std::vector<ParamSpec> params = common_params(method_);
    params.insert(params.end(), method_.params.begin(), method_.params.end());
    return params;
  }

  Needs needs(const Params&) const override {
    Needs needs;
    needs.tokenizer = true;
    needs.references = method_.reads_references;
    return needs;
  }

  bool seed_matters(const Params&) const override { return method_.draws; }

  Cost cost(const Params& params, const DatasetStats& stats) const override {
    double words = stats.mean_document_words;
    if (const auto limit = params.find<int64_t>("local_context")) {
      words = std::min(words, static_cast<double>(*limit));
    }
    const auto examples = static_cast<double>(stats.examples);
    const auto out = params.find<int64_t>("max_words");
    Cost cost;
    cost.flops = examples * words * (method_.work_per_word + method_.work_per_pair * words);
    cost.bytes = examples * 8 * words;
    cost.tokens_out = examples * (out ? std::min(words, static_cast<double>(*out)) : words);
    return cost;
  }

 private:
  Declaration method_;
};

Declaration lead() {
  Declaration method;
  method.name = "lead";
  method.doc = "the first sentences of the document";
  return method;
}

Declaration random_sentences() {
  Declaration method;
  method.name = "random";
  method.doc = "sentences drawn at random, by seed and example";
  method.draws = true;
  return method;
}

Declaration textrank() {
  Declaration method;
  method.name = "textrank";
  method.doc = "sentences central in a graph of word overlap; does not read the query";
  method.layers = {"rouge_tokens@1"};
  method.params = {
      from_source(
          with_default(real_param("damping", "", 0, 0.999, "weight of the neighbours in a score"),
                       0.85),
          kTextRankSource),
      from_source(with_default(real_param("tolerance", "", 0, 1,
                                          "iteration ends when no score moves by more"),
                               1e-6),
                  "tighter than the paper's 1e-4, so that ranks are settled"),
      with_default(count_param("max_iterations", "iterations", "iteration ends at the latest here"),
                   int64_t{200})};
  method.work_per_pair = 1;
  return method;
}

Declaration bm25() {
  Declaration method;
  method.name = "bm25";
  method.doc = "sentences that match the query best; in document order where none does";
  method.layers = {"porter_nltk@1", "rouge_tokens@1"};
  method.params = retrieval::bm25_params();
  method.work_per_word = 10;
  return method;
}

Declaration oracle() {
  Declaration method;
  method.name = "oracle";
  method.doc = "upper bound: greedy sentences towards the references by ROUGE-1 + ROUGE-2 F";
  method.layers = {metrics::rouge_signature({.stem = true})};
  method.params = {
      count_param("max_sentences", "sentences", "most sentences taken; absent: no limit")};
  method.reads_references = true;
  method.work_per_word = 500;
  return method;
}

Declaration oracle_dyle() {
  Declaration method;
  method.name = "oracle_dyle";
  method.doc = "DYLE's greedy oracle over turns towards the first reference";
  method.layers = {"dyle_rouge@1", "treebank_tokens@2"};
  method.default_max_words = std::nullopt;
  method.reads_references = true;
  method.work_per_word = 5000;
  return method;
}

}  // namespace

std::vector<std::unique_ptr<const MethodSpec>> extractive_specs() {
  std::vector<std::unique_ptr<const MethodSpec>> specs;
  for (const Declaration& method :
       {lead(), random_sentences(), textrank(), bm25(), oracle(), oracle_dyle()}) {
    specs.push_back(std::make_unique<const ExtractiveSpec>(method));
  }
  return specs;
}

}  // namespace qfs::extractive
