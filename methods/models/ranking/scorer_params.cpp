#include "methods/models/ranking/scorer_params.h"

#include <string>
#include <utility>

#include "harness/api/param_specs.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/decoding/generation_layers.h"

namespace qfs::ranking {

namespace {

constexpr const char* kRelease = "Yale-LILY/DYLE";
constexpr int64_t kMostRows = int64_t{1} << 24;

ParamSpec at_both(ParamSpec spec) {
  spec.stage = Stage::both;
  return spec;
}

ParamSpec of_both(ParamSpec spec) { return from_source(at_both(std::move(spec)), kRelease); }

}  // namespace

const std::vector<std::string>& scorer_types() {
  static const std::vector<std::string> kTypes = {"bert", "roberta"};
  return kTypes;
}

std::vector<std::string> scorer_layers() {
  // What BERT is computed by belongs to BART's layer.
  std::vector<std::string> layers = decoding::generation_layers({"bart"});
  std::erase_if(layers, [](const std::string& layer) { return !layer.starts_with("backbone-"); });
  layers.emplace_back("ranking@1");
  return layers;
}

Result<int64_t> scorer_window(const Resource& model) {
  const auto folder = checkpoints::ModelDirectory::open(model.path);
  if (!folder.ok()) return folder.error();
  const checkpoints::ConfigObject& config = folder->config();
  const auto type = config.text("model_type");
  if (!type.ok()) return type.error();
  const auto rows = config.integer("max_position_embeddings", 1, kMostRows);
  if (!rows.ok() || *type != "roberta") return rows;
  // The first of RoBERTa's rows are of padding and what is before it.
  const auto padding = config.integer_or("pad_token_id", 0, kMostRows, 1);
  return padding.ok() ? Result<int64_t>(*rows - *padding - 1) : padding;
}

Status check_window(const Params& params, const Resource& model) {
  const auto window = scorer_window(model);
  if (!window.ok()) return window.error();
  const int64_t chunk = params.get<int64_t>("chunk_tokens");
  if (chunk <= *window) return {};
  return invalid_argument("'chunk_tokens' is " + std::to_string(chunk) + "; '" + model.path +
                          "' reads " + std::to_string(*window) + " at once");
}

std::vector<ParamSpec> scorer_params() {
  return {
      of_both(with_default(
          integer_param("chunk_tokens", "tokens", 8, 1 << 16, "The extractor reads at once"),
          int64_t{512})),
      of_both(
          with_default(integer_param("max_chunks", "", 1, 4096,
                                     "It reads of a document; snippets behind them are not seen"),
                       int64_t{50})),
      at_both(from_source(
          choice_param(
              "score", {"head", "similarity"},
              "A snippet is scored by a linear layer of the state at its last token, behind the "
              "query; with 'similarity' the query is read by itself, and a trained multiple of "
              "the cosine between the mean states of both is added. 'head' when left out"),
          "beyond the paper"))};
}

bool scores_by_similarity(const Params& params) {
  return params.find<std::string>("score") == "similarity";
}

Status check_score(const Params& params, const Params& recipe) {
  if (!recipe.has("chunk_tokens") || scores_by_similarity(params) == scores_by_similarity(recipe)) {
    return {};
  }
  const auto name = [](const Params& of) {
    return std::string(scores_by_similarity(of) ? "similarity" : "head");
  };
  return invalid_argument("its 'score' is " + name(recipe) + ", not " + name(params));
}

}  // namespace qfs::ranking
