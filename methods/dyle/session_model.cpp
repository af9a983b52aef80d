#include "methods/dyle/session_model.h"

#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <utility>

#include "methods/dyle/session_losses.h"
#include "methods/dyle/spec.h"
#include "methods/models/nn/adapters.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/token_loss.h"
#include "methods/models/prompted/chat_params.h"
#include "methods/models/ranking/scorer_params.h"

namespace qfs::dyle {

Settings::Settings(const Params& params)
    : released(params.get<std::string>("profile") == "released"),
      rule{params.get<int64_t>("k"), released},
      snippet_tokens(params.get<int64_t>("snippet_tokens")),
      snippets(snippet_rule(params)),
      chunks{params.get<int64_t>("chunk_tokens"), params.get<int64_t>("max_chunks"), released,
             ranking::scores_by_similarity(params)},
      prompt(params.get<std::string>("prompt")),
      is_static(params.get<std::string>("prior") == "static") {}

training::NamedTensors DyleTensors::all() const {
  training::NamedTensors tensors = extractor.all();
  tensors.insert(gate.begin(), gate.end());
  ranking::put_matrices(kGeneratorPrefix, generator, tensors);
  for (const auto& [name, tensor] : generator_weights) tensors[kGeneratorPrefix + name] = tensor;
  return tensors;
}

void DyleTensors::replace(const training::NamedTensors& leaves) {
  extractor.replace(leaves);
  for (auto& [name, tensor] : gate) tensor = leaves.at(name);
  ranking::take_matrices(kGeneratorPrefix, leaves, generator);
  for (auto& [name, tensor] : generator_weights) tensor = leaves.at(kGeneratorPrefix + name);
}

Result<DyleModel> DyleModel::open(const Params& params,
                                  std::shared_ptr<const ranking::SnippetScorer> extractor,
                                  std::shared_ptr<const architectures::Backbone> generator) {
  DyleModel model(params);
  model.extractor_ = std::move(extractor);
  model.generator_ = std::move(generator);
  if (!params.find<bool>("chat").value_or(false)) return model;
  prompting::ChatSettings settings = model.generator_->chat;
  prompted::add_chat_params(params, settings);
  auto renderer = prompting::ChatRenderer::open(settings, *model.generator_->tokenizer);
  if (!renderer.ok()) return renderer.error();
  model.chat_ = {*std::move(renderer), params.find<std::string>("system")};
  return model;
}

DyleModel DyleModel::with_extractor(std::shared_ptr<const ranking::SnippetScorer> extractor) const {
  DyleModel model = *this;
  model.extractor_ = std::move(extractor);
  return model;
}

DyleModel DyleModel::over(std::shared_ptr<const ranking::SnippetScorer> extractor,
                          std::shared_ptr<const architectures::Backbone> generator) const {
  DyleModel model = with_extractor(std::move(extractor));
  model.generator_ = std::move(generator);
  return model;
}

Result<Candidates> DyleModel::candidates(const Example& example) const {
  auto snippets = ranking::snippets_of(example, settings_.snippets);
  if (!snippets.ok()) return snippets.error();
  auto packed = extractor_->pack(example.query, *snippets, settings_.chunks);
  if (!packed.ok()) return ranking::of_example(packed.error(), example);
  return Candidates{*std::move(snippets), *std::move(packed)};
}

Result<std::vector<int64_t>> DyleModel::oracle(const Example& example,
                                               const Candidates& candidates) const {
  const auto list = ranking::oracle_of(example, candidates.snippets);
  if (!list.ok()) return list.error();
  return ranking::kept_targets(*list, candidates.snippets, candidates.visible());
}

Result<GeneratorRows> DyleModel::rows(const Example& example, const Candidates& candidates,
                                      const Selection& selection) const {
  std::vector<std::string> texts;
  for (const int64_t i : selection.snippets) {
    texts.push_back(candidates.snippets[static_cast<size_t>(i)].text());
  }
  const nn::SequenceShape& shape = generator_->network->shape();
  auto made = encoder_decoder()
                  ? snippet_sources(*generator_->tokenizer, texts, example.query,
                                    std::min(settings_.snippet_tokens, shape.source_context))
                  : snippet_prompts(*generator_->tokenizer, settings_.prompt, texts, example.query,
                                    settings_.snippet_tokens, chat_ ? &*chat_ : nullptr);
  if (!made.ok()) return ranking::of_example(made.error(), example);
  GeneratorRows rows;
  for (size_t i = 0; i < made->size(); ++i) {
    SnippetRow& row = (*made)[i];
    rows.inputs.push_back({.ids = std::move(row.ids)});
    // A copy is no snippet more.
    if (!rows.kept_tokens.emplace(selection.snippets[i], row.kept_tokens).second) continue;
    rows.cut += row.cut ? 1 : 0;
    rows.query_cut += row.query_cut ? 1 : 0;
  }
  return rows;
}

Target DyleModel::target(const std::string& summary, int64_t most) const {
  const tokenizers::VocabularyTokenizer& tokenizer = *generator_->tokenizer;
  const std::vector<int32_t>& ends = generator_->generation.end_ids;
  if (!encoder_decoder()) {
    return prompted_target(tokenizer, summary, chat_.has_value(), ends.front(), most);
  }
  const int32_t filling = ends.empty() ? 0 : ends.front();
  const int32_t padding = tokenizer.special_id("<pad>").value_or(filling);
  return decoder_target(tokenizer, summary, generator_->network->shape().decoder_start,
                        settings_.released, padding, most);
}

Result<std::shared_ptr<const nn::Adapters>> generator_adapters(const DyleTensors& tensors,
                                                               const nn::Decoder& decoder) {
  if (tensors.generator.layers.empty()) return std::shared_ptr<const nn::Adapters>();
  return nn::bind_adapters({.linears = tensors.generator.layers}, decoder);
}

Result<ReadTarget> read_target(const nn::Decoder& decoder, const GeneratorRows& rows,
                               const Target& target, nn::Recompute recompute) {
  const bool encoder_decoder = decoder.shape().sequence.encoder_decoder();
  const auto positions = static_cast<int64_t>(target.labels.size());
  const auto count = static_cast<int64_t>(rows.inputs.size());
  std::vector<nn::SequenceInput> inputs = rows.inputs;
  std::vector<int64_t> places;  // of the state that each position is predicted by
  int64_t first = 0;
  for (nn::SequenceInput& input : inputs) {
    std::vector<int32_t>& begun = encoder_decoder ? input.decoder_ids : input.ids;
    // A prompt's last id predicts the first of what follows it.
    const int64_t before = encoder_decoder ? 0 : static_cast<int64_t>(begun.size()) - 1;
    begun.insert(begun.end(), target.begun.begin(), target.begun.end());
    for (int64_t t = 0; t < positions; ++t) places.push_back(first + before + t);
    first += static_cast<int64_t>(begun.size());
  }
  const auto states = nn::sequence_states(decoder, inputs, recompute);
  if (!states.ok()) return states.error();
  ReadTarget read;
  std::vector<int64_t> labels;
  for (int64_t t = 0; t < positions; ++t) {
    if (target.labels[static_cast<size_t>(t)] != nn::kNoLabel) read.labelled.push_back(t);
  }
  for (int64_t k = 0; k < count; ++k) {
    for (const int64_t t : read.labelled) labels.push_back(target.labels[static_cast<size_t>(t)]);
  }
  return nn::guarded("reading a target", [&]() -> Result<ReadTarget> {
    const auto here = [&](const std::vector<int64_t>& list) {
      return at::tensor(list).to(states->device());
    };
    read.states = states->index_select(0, here(places)).view({count, positions, -1});
    const at::Tensor labelled = read.states.index_select(1, here(read.labelled)).flatten(0, 1);
    const auto logarithms = nn::label_log_probabilities(decoder.head(), labelled, labels);
    if (!logarithms.ok()) return logarithms.error();
    read.log_probabilities = logarithms->view({count, -1});
    return read;
  });
}

Losses losses_of(const Settings& settings, const DyleTensors& tensors, const at::Tensor& scores,
                 std::span<const int64_t> oracle, const Selection& selection,
                 const ReadTarget& read, bool prior_gradients) {
  Losses losses;
  losses.oracle = ranking::target_loss(scores, oracle);
  const at::Tensor& logarithms = read.log_probabilities;
  if (settings.is_static) {
    const at::Tensor prior = log_prior(prior_gradients ? scores : scores.detach(), selection)
                                 .unsqueeze(1)
                                 .to(logarithms.device(), logarithms.scalar_type());
    losses.generation = -mixed(logarithms, prior).sum();
    losses.consistency = at::zeros({}, scores.options());
    return losses;
  }
  const at::Tensor gate = gate_logits(tensors.gate, read.states);  // [K, T]
  const at::Tensor labelled = gate.index_select(1, at::tensor(read.labelled).to(gate.device()));
  const at::Tensor prior = labelled.log_softmax(0);
  losses.generation =
      -mixed(logarithms, prior.to(logarithms.device(), logarithms.scalar_type())).sum();
  // The release averages over padded positions, too.
  losses.consistency = consistency_loss(settings.released ? gate : labelled, scores, selection);
  const at::Tensor weights = prior.detach();
  losses.gate_entropy = -(weights.exp() * weights).sum(0).mean().item<double>();
  return losses;
}

}  // namespace qfs::dyle
