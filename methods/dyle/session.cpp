#include "methods/dyle/session.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/log_softmax.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "harness/core/rng.h"
#include "harness/core/utf8.h"
#include "methods/dyle/session_artifact.h"
#include "methods/dyle/session_gate.h"
#include "methods/dyle/session_losses.h"
#include "methods/dyle/session_model.h"
#include "methods/dyle/spec.h"
#include "methods/models/decoding/row_mixer.h"
#include "methods/models/nn/adapters.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/prompted/prompted_model.h"
#include "methods/models/prompted/trained_spec.h"

namespace qfs::dyle {

namespace {

/// The mixture of what the generator would write after each snippet.
class SnippetMixer final : public decoding::RowMixer {
 public:
  /// `prior` [K]: of the snippets at every step; undefined: the gate's.
  SnippetMixer(const training::NamedTensors& gate, at::Tensor prior)
      : gate_(gate), prior_(std::move(prior)) {}

  Status mix(std::span<const float> logits, const at::Tensor& states,
             std::span<float> mixture) override {
    return nn::guarded("mixing snippets", [&]() -> Status {
      const at::Tensor prior =
          prior_.defined() ? prior_ : gate_logits(gate_, states).log_softmax(0);
      entropy_ += -prior.exp().xlogy(prior.exp()).sum().item<double>();
      ++steps_;
      if (states.size(0) == 1) {
        std::ranges::copy(logits, mixture.begin());
        return {};
      }
      const auto vocabulary = static_cast<int64_t>(mixture.size());
      const at::Tensor of_rows =
          at::from_blob(const_cast<float*>(logits.data()), {states.size(0), vocabulary});
      const at::Tensor sum = mixed(at::log_softmax(of_rows, 1), prior.unsqueeze(1)).contiguous();
      std::copy_n(sum.const_data_ptr<float>(), mixture.size(), mixture.data());
      return {};
    });
  }

  /// Of the weights, mean over what was mixed; natural logarithm.
  double mean_entropy() const { return steps_ == 0 ? 0 : entropy_ / static_cast<double>(steps_); }

 private:
  const training::NamedTensors& gate_;
  at::Tensor prior_;
  double entropy_ = 0;
  int64_t steps_ = 0;
};

/// What a session writes with.
struct Parts {
  DyleModel model;
  DyleTensors tensors;
  prompted::Writer writer;
  std::shared_ptr<const nn::Adapters> of_extractor;
  std::shared_ptr<const nn::Adapters> of_generator;
  /// For the gate of a text that is there; null: no cell asks for it.
  std::shared_ptr<const nn::Decoder> decoder = {};
  std::shared_ptr<const nn::Adapters> of_decoder = {};
};

class DyleSession final : public MethodSession {
 public:
  DyleSession(const SessionRequest& request, Parts parts)
      : seed_(request.seed),
        snippets_(request.params.get<std::string>("snippets")),
        writes_(request.params.find<std::string>("output") != "snippets"),
        oracle_facts_(request.params.find<bool>("oracle_facts").value_or(false)),
        gate_map_(request.params.find<std::string>("gate_map")),
        parts_(std::move(parts)),
        model_(parts_.model) {}

  Status run(std::span<const NumberedExample> unit, PredictionSink& sink) override {
    decoding::GenerationTimes times;
    for (const NumberedExample& numbered : unit) {
      auto prediction = predict(numbered, times);
      if (!prediction.ok()) return prediction.error();
      sink.emit(numbered.ordinal, *std::move(prediction));
    }
    if (writes_) prompted::tell_times(times, static_cast<int64_t>(unit.size()), sink);
    return {};
  }

  Result<std::optional<MachineLimits>> measure_limits() override {
    return prompted::measure_limits(parts_.writer.generator, parts_.writer.runtime);
  }

 private:
  /// What an example's snippets are, and which of them are read.
  struct Reading {
    Candidates candidates;
    at::Tensor scores;
    Selection selection;
    GeneratorRows rows;

    /// Those that are read, without copies.
    std::vector<int64_t> chosen() const {
      std::vector<int64_t> some = selection.snippets;
      some.resize(some.size() - static_cast<size_t>(selection.copies));
      return some;
    }
  };

  Result<Reading> read(const NumberedExample& numbered) const {
    auto candidates = model_.candidates(numbered.example);
    if (!candidates.ok()) return candidates.error();
    auto scores = model_.extractor().scores(candidates->packed, parts_.tensors.extractor.head,
                                            parts_.of_extractor);
    if (!scores.ok()) return scores.error();
    auto selection = select(numbered, *candidates, *scores);
    if (!selection.ok()) return selection.error();
    auto rows = model_.rows(numbered.example, *candidates, *selection);
    if (!rows.ok()) return rows.error();
    return Reading{*std::move(candidates), *std::move(scores), *std::move(selection),
                   *std::move(rows)};
  }

  Result<Prediction> predict(const NumberedExample& numbered, decoding::GenerationTimes& times) {
    const Example& example = numbered.example;
    const auto reading = read(numbered);
    if (!reading.ok()) return reading.error();
    nlohmann::json facts = {{"snippets", reading->chosen()},
                            {"visible_snippets", reading->candidates.visible()},
                            {"unseen_snippets", reading->candidates.packed.unseen},
                            {"cut_by_extractor", reading->candidates.packed.cut},
                            {"cut_by_generator", reading->rows.cut},
                            {"query_cut_by_generator", reading->rows.query_cut},
                            {"observed", {{"copied_snippets", reading->selection.copies}}}};
    Prediction prediction;
    if (writes_) {
      const Status written = write(numbered, *reading, times, prediction, facts);
      if (!written.ok()) return written.error();
    } else {
      prediction.text = snippets_text(*reading);
      prediction.finish = FinishReason::stop;
      prediction.tokens_out = model_.generator().tokenizer->count(prediction.text);
    }
    if (oracle_facts_) {
      const Status told = tell_oracle(example, *reading, facts["observed"]);
      if (!told.ok()) return told.error();
    }
    if (gate_map_ == "reference") {
      if (example.references.empty() || example.references.front().empty()) {
        return data_error("example '" + example.key + "' has no reference summary to map");
      }
      const Status told = tell_gate(*reading, reference_target(example), facts);
      if (!told.ok()) return told.error();
    }
    tell_reading(example, *reading, prediction);
    prediction.extra = {facts.dump()};
    return prediction;
  }

  Status write(const NumberedExample& numbered, const Reading& reading,
               decoding::GenerationTimes& times, Prediction& prediction, nlohmann::json& facts) {
    std::vector<nn::SequenceInput> inputs = reading.rows.inputs;
    for (nn::SequenceInput& input : inputs) input.adapters = parts_.of_generator;
    SnippetMixer mixer(parts_.tensors.gate, model_.settings().is_static
                                                ? log_prior(reading.scores, reading.selection)
                                                : at::Tensor());
    const decoding::MixedInput mixed{inputs, &mixer};
    const uint64_t seed =
        Rng::derived(seed_, "dyle", static_cast<uint64_t>(numbered.ordinal)).next();
    const auto result =
        parts_.writer.generator.generate_mixed({&mixed, 1}, parts_.writer.options, {&seed, 1});
    if (!result.ok()) return result.error();
    times += result->times;
    const decoding::Generated& generated = result->rows.front();
    RepairedText repaired = repair_utf8(generated.text);
    prediction.text = std::move(repaired.text);
    prediction.repaired_bytes = repaired.replaced_bytes;
    prediction.finish = generated.finish;
    prediction.tokens_out = static_cast<int64_t>(generated.ids.size());
    facts["observed"]["gate_entropy"] = mixer.mean_entropy();
    if (gate_map_ != "output") return {};
    const architectures::Backbone& backbone = model_.generator();
    std::vector<int32_t> written = generated.ids;
    if (generated.finish == FinishReason::stop && !generated.by_text) {
      written.push_back(backbone.generation.end_ids.front());
    }
    if (written.empty()) return {};
    return tell_gate(reading, written_target(backbone.network->shape().decoder_start, written),
                     facts);
  }

  /// What the generator reads of the snippets, without their speakers; those alone whose prior by
  /// the extractor is above 1e-10.
  std::string snippets_text(const Reading& reading) const {
    const tokenizers::VocabularyTokenizer& tokenizer = *model_.generator().tokenizer;
    const at::Tensor prior = log_prior(reading.scores, reading.selection).exp().contiguous();
    std::string text;
    for (size_t i = 0, count = reading.chosen().size(); i < count; ++i) {
      if (prior.const_data_ptr<float>()[i] <= 1e-10F) continue;
      const int64_t index = reading.selection.snippets[i];
      const ranking::Snippet& snippet = reading.candidates.snippets[static_cast<size_t>(index)];
      const std::string content = snippet.content_of(
          kept_text(tokenizer, snippet.text(), reading.rows.kept_tokens.at(index)));
      if (content.empty()) continue;
      if (!text.empty()) text += ' ';
      text += repair_utf8(content).text;
    }
    return text;
  }

  /// Which share of what is read is in the oracle, and of the oracle is read.
  Status tell_oracle(const Example& example, const Reading& reading,
                     nlohmann::json& observed) const {
    const auto list = model_.oracle(example, reading.candidates);
    if (!list.ok()) return list.error();
    const std::set<int64_t> oracle(list->begin(), list->end());
    const std::vector<int64_t> chosen = reading.chosen();
    const auto hits = std::ranges::count_if(chosen, [&](int64_t i) { return oracle.contains(i); });
    observed["oracle_snippets"] = oracle.size();
    observed["oracle_precision"] = static_cast<double>(hits) / static_cast<double>(chosen.size());
    // Of no oracle there is no share. A list may have a snippet twice, which is found once.
    if (!oracle.empty()) {
      const std::set<int64_t> read(chosen.begin(), chosen.end());
      const auto found = std::ranges::count_if(oracle, [&](int64_t i) { return read.contains(i); });
      observed["oracle_recall"] = static_cast<double>(found) / static_cast<double>(oracle.size());
    }
    return {};
  }

  Target reference_target(const Example& example) const {
    return model_.target(example.references.front(), parts_.writer.options.max_new_tokens);
  }

  Status tell_gate(const Reading& reading, const Target& target, nlohmann::json& facts) const {
    GeneratorRows rows = reading.rows;
    for (nn::SequenceInput& input : rows.inputs) input.adapters = parts_.of_decoder;
    const auto map =
        gate_json(*parts_.decoder, parts_.tensors, rows, target, reading.scores, reading.selection);
    if (!map.ok()) return map.error();
    facts.update(nlohmann::json::parse(*map));
    return {};
  }

  Result<Selection> select(const NumberedExample& numbered, const Candidates& candidates,
                           const at::Tensor& scores) const {
    const at::Tensor values = scores.contiguous();
    const std::span<const float> span(values.const_data_ptr<float>(),
                                      static_cast<size_t>(values.numel()));
    SelectionRule rule = model_.settings().rule;
    if (snippets_ == "all") rule.k = candidates.visible();
    if (snippets_ == "random") {
      return drawn(candidates.visible(),
                   Rng::derived(seed_, "snippets", static_cast<uint64_t>(numbered.ordinal)), rule);
    }
    if (snippets_ != "oracle") return best_of(span, rule);
    const auto oracle = model_.oracle(numbered.example, candidates);
    if (!oracle.ok()) return oracle.error();
    return oracle->empty() ? best_of(span, rule) : first_of(*oracle, rule);
  }

  /// The ledger, and how much was read.
  void tell_reading(const Example& example, const Reading& reading, Prediction& prediction) const {
    const tokenizers::VocabularyTokenizer& tokenizer = *model_.generator().tokenizer;
    for (const nn::SequenceInput& row : reading.rows.inputs) {
      prediction.tokens_in += static_cast<int64_t>(row.ids.size());
    }
    Truncation ledger;
    const std::map<int64_t, int64_t>& kept = reading.rows.kept_tokens;
    for (size_t i = 0; i < reading.candidates.snippets.size(); ++i) {
      const int64_t tokens = tokenizer.count(reading.candidates.snippets[i].text());
      ledger.document_tokens += tokens;
      const auto read = kept.find(static_cast<int64_t>(i));
      // Beside other text it may be cut into one token more.
      if (read != kept.end()) ledger.kept_tokens += std::min(tokens, read->second);
    }
    ledger.query_tokens = tokenizer.count(example.query);
    ledger.query_whole = reading.rows.query_cut < static_cast<int64_t>(kept.size());
    prediction.truncation = std::move(ledger);
  }

  uint64_t seed_;
  std::string snippets_;
  bool writes_;
  bool oracle_facts_;
  std::optional<std::string> gate_map_;
  Parts parts_;
  const DyleModel& model_;
};

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache) {
  const auto file = request.artifacts.find(prompted::kAdapter);
  if (file == request.artifacts.end()) return invalid_argument("no trained file was given");
  const auto model_of_role = request.backbones.find(kExtractor);
  if (model_of_role == request.backbones.end()) return invalid_argument("no extractor was given");
  auto backbone = prompted::open_backbone(request, cache);
  if (!backbone.ok()) return backbone.error();
  auto extractor = ranking::SnippetScorer::open(model_of_role->second, cache);
  if (!extractor.ok()) return extractor.error();
  auto opened = DyleModel::open(request.params, *std::move(extractor), *backbone);
  if (!opened.ok()) return opened.error();
  DyleModel model = *std::move(opened);
  DyleTensors tensors;
  if (prompted::all_weights(request.params)) {
    auto trained = read_weights(file->second, request, model);
    if (!trained.ok()) return trained.error();
    auto changed = std::make_shared<architectures::Backbone>(**backbone);
    changed->network = std::move(trained->generator);
    *backbone = std::move(changed);
    model = model.over(std::move(trained->extractor), *backbone);
    tensors = std::move(trained->tensors);
  } else {
    auto read = read_artifact(file->second.path, request);
    if (!read.ok()) return read.error();
    tensors = *std::move(read);
  }
  const int64_t width = (*backbone)->network->work({}).head.inputs;
  const bool needs_gate = !model.settings().is_static;
  if (Status gate = check_gate(tensors.gate, width, needs_gate, file->second.path); !gate.ok()) {
    return gate.error();
  }
  const bool similar = tensors.extractor.head.contains(ranking::kSimilarity);
  if (similar != model.settings().chunks.query_apart) {
    return data_error(similar ? "it was trained with \"score\": \"similarity\"; ask for that"
                              : "it was not trained with \"score\": \"similarity\"",
                      file->second.path);
  }
  auto writer = prompted::open_writer(request, *backbone, cache);
  if (!writer.ok()) return writer.error();
  auto of_generator = tensors.generator.layers.empty()
                          ? Result<std::shared_ptr<const nn::Adapters>>(nullptr)
                          : writer->generator.bind({.linears = tensors.generator.layers});
  if (!of_generator.ok()) return of_generator.error();
  auto of_extractor = model.extractor().bind(tensors.extractor.adapter.layers);
  if (!of_extractor.ok()) return of_extractor.error();
  Parts parts{std::move(model), std::move(tensors), *std::move(writer), *std::move(of_extractor),
              *std::move(of_generator)};
  if (request.params.has("gate_map")) {
    auto decoder = (*backbone)->network->reader(request.runtime, (*backbone)->digest, cache);
    if (!decoder.ok()) return decoder.error();
    auto bound = generator_adapters(parts.tensors, **decoder);
    if (!bound.ok()) return bound.error();
    parts.decoder = *std::move(decoder);
    parts.of_decoder = *std::move(bound);
  }
  return std::unique_ptr<MethodSession>(std::make_unique<DyleSession>(request, std::move(parts)));
}

}  // namespace

SessionFactory session_factory() { return {"dyle", &open, &open_training}; }

}  // namespace qfs::dyle
