#include "methods/models/ranking/scorer_params.h"

#include <utility>

#include "harness/api/param_specs.h"
#include "methods/models/decoding/generation_layers.h"

namespace qfs::ranking {

namespace {

constexpr const char* kRelease = "Yale-LILY/DYLE";

ParamSpec of_both(ParamSpec spec) {
  spec.stage = Stage::both;
  return from_source(std::move(spec), kRelease);
}

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

std::vector<ParamSpec> chunk_params() {
  return {of_both(with_default(
              integer_param("chunk_tokens", "tokens", 8, 1 << 16, "The extractor reads at once"),
              int64_t{512})),
          of_both(with_default(
              integer_param("max_chunks", "", 1, 4096,
                            "It reads of a document; snippets behind them are not seen"),
              int64_t{50}))};
}

}  // namespace qfs::ranking
