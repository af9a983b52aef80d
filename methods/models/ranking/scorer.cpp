#include "methods/models/ranking/scorer.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/cosine_similarity.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <utility>

#include "harness/core/error_exception.h"
#include "methods/models/architectures/bert/encoder_folder.h"
#include "methods/models/architectures/bert/encoder_names.h"
#include "methods/models/architectures/bert/transformer_encoder.h"
#include "methods/models/architectures/reading/tensor_reader.h"
#include "methods/models/checkpoints/renamed_checkpoint.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/ranking/scorer_params.h"

namespace qfs::ranking {

namespace {

using architectures::EncoderWeights;

const architectures::EncoderNames& names_of(const EncoderWeights& weights) {
  return architectures::encoder_names(weights.config.model_type);
}

/// `weights` outlive what is given back.
nn::ShowWeights shows(EncoderWeights& weights) {
  return [&weights](nn::WeightVisitor& visitor) {
    visit_weights(weights, names_of(weights).token_embeddings.front(), visitor);
  };
}

/// The mean states of a chunk's snippets: [snippets, d]. `states` [T, d]; `last`: of the snippets'
/// tokens.
at::Tensor means_of(const at::Tensor& states, int64_t query_tokens,
                    const std::vector<int64_t>& last) {
  std::vector<at::Tensor> means;
  int64_t begin = query_tokens;
  for (const int64_t end : last) {
    means.push_back(states.slice(0, begin, end + 1).mean(0));
    begin = end + 1;
  }
  return at::stack(means);
}

}  // namespace

SnippetScorer::SnippetScorer(std::shared_ptr<const architectures::EncoderWeights> weights,
                             std::shared_ptr<const tokenizers::VocabularyTokenizer> tokenizer)
    : weights_(std::move(weights)), tokenizer_(std::move(tokenizer)) {}

Result<std::shared_ptr<const SnippetScorer>> SnippetScorer::open(const Resource& model,
                                                                 ResourceCache& cache) {
  auto folder = architectures::open_encoder_folder(model, scorer_types(), cache);
  if (!folder.ok()) return folder.error();
  if (folder->tokenizer->frame().after.empty()) {
    return unavailable("the tokenizer puts nothing behind a text, where its score would stand",
                       model.path);
  }
  return std::shared_ptr<const SnippetScorer>(
      std::make_shared<SnippetScorer>(std::move(folder->weights), std::move(folder->tokenizer)));
}

nn::WeightsByName SnippetScorer::weights() const {
  EncoderWeights shown = *weights_;
  return nn::weights_of(shows(shown));
}

std::shared_ptr<const SnippetScorer> SnippetScorer::over(const nn::WeightsByName& values) const {
  auto changed = std::make_shared<EncoderWeights>(*weights_);
  nn::assign_weights(shows(*changed), values);
  return std::make_shared<SnippetScorer>(std::move(changed), tokenizer_);
}

nn::WeightsByName SnippetScorer::checkpoint() const {
  EncoderWeights shown = *weights_;
  return nn::checkpoint_of(shows(shown), prefix());
}

std::string SnippetScorer::prefix() const { return names_of(*weights_).prefix; }

Result<std::shared_ptr<const SnippetScorer>> SnippetScorer::read(
    std::shared_ptr<const checkpoints::Checkpoint> file, const std::string& path) const {
  const auto own = checkpoints::without_prefix(std::move(file), prefix());
  if (!own.ok()) return own.error();
  auto weights = std::make_shared<EncoderWeights>();
  weights->config = weights_->config;
  const Status read =
      architectures::read_weights(**own, path, names_of(*weights).others, shows(*weights));
  if (!read.ok()) return read.error();
  return std::shared_ptr<const SnippetScorer>(
      std::make_shared<SnippetScorer>(std::move(weights), tokenizer_));
}

peft::AdaptableLayers SnippetScorer::layers() const {
  return {architectures::adapter_places(*weights_).linears, ""};
}

Result<std::shared_ptr<const nn::Adapters>> SnippetScorer::bind(
    const nn::LowRankByName& layers) const {
  if (layers.empty()) return std::shared_ptr<const nn::Adapters>();
  return nn::Adapters::bind({.linears = layers}, architectures::adapter_places(*weights_));
}

Result<PackedSnippets> SnippetScorer::pack(const std::string& query,
                                           const std::vector<Snippet>& snippets,
                                           const ChunkRule& rule) const {
  const architectures::EncoderConfig& config = weights_->config;
  if (rule.chunk_tokens > config.max_tokens()) {
    return invalid_argument("'chunk_tokens' is " + std::to_string(rule.chunk_tokens) +
                            "; the extractor reads " + std::to_string(config.max_tokens()));
  }
  const tokenizers::TextFrame frame = tokenizer_->frame();
  PackOptions options{frame.before,    frame.after, rule.chunk_tokens,
                      rule.max_chunks, {},          rule.query_apart};
  // Two ends part texts of RoBERTa.
  if (config.model_type == "roberta") options.after.push_back(frame.after.back());
  if (rule.padded) options.padding = config.padding_id;
  try {
    std::vector<std::vector<int32_t>> ids;
    for (const Snippet& snippet : snippets) {
      ids.push_back(tokenizers::ids_of(tokenizer_->encode(snippet.text())));
    }
    auto packed = pack_snippets(tokenizers::ids_of(tokenizer_->encode(query)), ids, options);
    if (!packed.ok() || std::ssize(packed->query) <= config.max_tokens()) return packed;
    return invalid_argument("a query of " + std::to_string(packed->query.size()) +
                            " tokens; the extractor reads " + std::to_string(config.max_tokens()));
  } catch (const ErrorException& error) {
    return error.error();
  }
}

int64_t SnippetScorer::flops(const PackedSnippets& packed) const {
  const architectures::EncoderConfig& c = weights_->config;
  const int64_t products = 4 * c.hidden * c.hidden + 2 * c.hidden * c.intermediate;
  const auto flops_of = [&](const std::vector<int32_t>& text) {
    const auto tokens = static_cast<int64_t>(text.size());
    return c.layers * (2 * tokens * products + 4 * tokens * tokens * c.hidden);
  };
  int64_t sum = packed.query_tokens == 0 ? flops_of(packed.query) : 0;
  for (const std::vector<int32_t>& chunk : packed.chunks) sum += flops_of(chunk);
  return sum;
}

Result<at::Tensor> SnippetScorer::scores(const PackedSnippets& packed,
                                         const training::NamedTensors& head,
                                         std::shared_ptr<const nn::Adapters> adapters,
                                         nn::Recompute recompute,
                                         const nn::Dropout* dropout) const {
  const auto part = [&](size_t index) {
    return dropout == nullptr ? nullptr
                              : std::make_shared<const nn::Dropout>(dropout->of_part(index));
  };
  const auto states_of = [&](const std::vector<int32_t>& ids, size_t index) -> Result<at::Tensor> {
    const architectures::TransformerEncoder encoder(weights_, adapters, recompute, part(index));
    const architectures::EncoderInput input{ids, {}};
    auto read = encoder.hidden_states({&input, 1}, weights_->config.layers);
    return read.ok() ? Result<at::Tensor>(read->squeeze(0)) : read;
  };
  const auto similarity = head.find(kSimilarity);
  std::vector<at::Tensor> states;
  std::vector<at::Tensor> means;
  size_t next = 0;
  for (size_t i = 0; i < packed.chunks.size(); ++i) {
    const int64_t first = static_cast<int64_t>(i) * packed.chunk_tokens;
    std::vector<int64_t> places;
    while (next < packed.positions.size() && packed.positions[next] < first + packed.chunk_tokens) {
      places.push_back(packed.positions[next++] - first);
    }
    const auto read = states_of(packed.chunks[i], i);
    if (!read.ok()) return read;
    const Status kept = nn::guarded("scoring snippets", [&]() -> Status {
      states.push_back(read->index_select(0, at::tensor(places)));
      if (similarity != head.end()) means.push_back(means_of(*read, packed.query_tokens, places));
      return {};
    });
    if (!kept.ok()) return kept.error();
  }
  auto query = Result<at::Tensor>(at::Tensor());
  if (!means.empty()) query = states_of(packed.query, packed.chunks.size() + 1);
  if (!query.ok()) return query;
  return nn::guarded("scoring snippets", [&]() -> Result<at::Tensor> {
    at::Tensor read = at::cat(states);
    if (const auto of_head = part(packed.chunks.size())) read = of_head->of_residual(read, 0);
    const at::Tensor scores =
        at::linear(read, head.at("classifier.weight"), head.at("classifier.bias")).squeeze(1);
    if (means.empty()) return scores;
    const at::Tensor asked = query->mean(0, /*keepdim=*/true);
    return scores + similarity->second * at::cosine_similarity(at::cat(means), asked);
  });
}

}  // namespace qfs::ranking
