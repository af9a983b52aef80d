#include "methods/dyle/session.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/log_softmax.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/rng.h"
#include "harness/core/utf8.h"
#include "methods/dyle/session_artifact.h"
#include "methods/dyle/session_losses.h"
#include "methods/dyle/session_model.h"
#include "methods/dyle/spec.h"
#include "methods/models/decoding/row_mixer.h"
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

class DyleSession final : public MethodSession {
 public:
  DyleSession(const SessionRequest& request, DyleModel model, DyleTensors tensors,
              prompted::Writer writer, std::shared_ptr<const nn::Adapters> of_extractor,
              std::shared_ptr<const nn::Adapters> of_generator)
      : seed_(request.seed),
        snippets_(request.params.get<std::string>("snippets")),
        model_(std::move(model)),
        tensors_(std::move(tensors)),
        writer_(std::move(writer)),
        of_extractor_(std::move(of_extractor)),
        of_generator_(std::move(of_generator)) {}

  Status run(std::span<const NumberedExample> unit, PredictionSink& sink) override {
    decoding::GenerationTimes times;
    for (const NumberedExample& numbered : unit) {
      auto prediction = predict(numbered, times);
      if (!prediction.ok()) return prediction.error();
      sink.emit(numbered.ordinal, *std::move(prediction));
    }
    prompted::tell_times(times, static_cast<int64_t>(unit.size()), sink);
    return {};
  }

  Result<std::optional<MachineLimits>> measure_limits() override {
    return prompted::measure_limits(writer_.generator, writer_.runtime);
  }

 private:
  Result<Prediction> predict(const NumberedExample& numbered, decoding::GenerationTimes& times) {
    const Example& example = numbered.example;
    const auto candidates = model_.candidates(example);
    if (!candidates.ok()) return candidates.error();
    const auto scores = model_.extractor().scores(candidates->packed, tensors_.head, of_extractor_);
    if (!scores.ok()) return scores.error();
    const auto selection = select(numbered, *candidates, *scores);
    if (!selection.ok()) return selection.error();
    auto rows = model_.rows(example, *candidates, *selection);
    if (!rows.ok()) return rows.error();
    for (nn::SequenceInput& input : rows->inputs) input.adapters = of_generator_;
    SnippetMixer mixer(tensors_.gate,
                       model_.settings().is_static ? log_prior(*scores, *selection) : at::Tensor());
    const decoding::MixedInput mixed{rows->inputs, &mixer};
    const uint64_t seed =
        Rng::derived(seed_, "dyle", static_cast<uint64_t>(numbered.ordinal)).next();
    const auto result = writer_.generator.generate_mixed({&mixed, 1}, writer_.options, {&seed, 1});
    if (!result.ok()) return result.error();
    times += result->times;
    return prediction_of(example, *candidates, *selection, *rows, result->rows.front(), mixer);
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

  Prediction prediction_of(const Example& example, const Candidates& candidates,
                           const Selection& selection, const GeneratorRows& rows,
                           const decoding::Generated& generated, const SnippetMixer& mixer) const {
    const tokenizers::VocabularyTokenizer& tokenizer = *model_.generator().tokenizer;
    RepairedText repaired = repair_utf8(generated.text);
    Prediction prediction;
    prediction.text = std::move(repaired.text);
    prediction.repaired_bytes = repaired.replaced_bytes;
    prediction.finish = generated.finish;
    prediction.tokens_out = static_cast<int64_t>(generated.ids.size());
    for (const nn::SequenceInput& row : rows.inputs) {
      prediction.tokens_in += static_cast<int64_t>(row.ids.size());
    }
    Truncation ledger;
    std::vector<int64_t> chosen = selection.snippets;
    chosen.resize(chosen.size() - static_cast<size_t>(selection.copies));
    for (size_t i = 0; i < candidates.snippets.size(); ++i) {
      const int64_t tokens = tokenizer.count(candidates.snippets[i].text);
      ledger.document_tokens += tokens;
      if (std::ranges::count(chosen, static_cast<int64_t>(i)) == 0) continue;
      ledger.kept_tokens += std::min(tokens, model_.settings().snippet_tokens);
    }
    ledger.query_tokens = tokenizer.count(example.query);
    prediction.truncation = std::move(ledger);
    prediction.extra = {nlohmann::json({{"snippets", chosen},
                                        {"visible_snippets", candidates.visible()},
                                        {"unseen_snippets", candidates.packed.unseen},
                                        {"cut_by_extractor", candidates.packed.cut},
                                        {"cut_by_generator", rows.cut},
                                        {"observed", {{"gate_entropy", mixer.mean_entropy()}}}})
                            .dump()};
    return prediction;
  }

  uint64_t seed_;
  std::string snippets_;
  DyleModel model_;
  DyleTensors tensors_;
  prompted::Writer writer_;
  std::shared_ptr<const nn::Adapters> of_extractor_;
  std::shared_ptr<const nn::Adapters> of_generator_;
};

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache) {
  const auto file = request.artifacts.find(prompted::kAdapter);
  if (file == request.artifacts.end()) return invalid_argument("no trained file was given");
  const auto model_of_role = request.backbones.find(kExtractor);
  if (model_of_role == request.backbones.end()) return invalid_argument("no extractor was given");
  auto backbone = prompted::open_backbone(request, cache);
  if (!backbone.ok()) return backbone.error();
  auto extractor = Extractor::open(model_of_role->second, cache);
  if (!extractor.ok()) return extractor.error();
  DyleModel model(Settings(request.params), *std::move(extractor), *backbone);
  auto tensors = read_artifact(file->second.path, request, !model.settings().is_static);
  if (!tensors.ok()) return tensors.error();
  auto writer = prompted::open_writer(request, *backbone, cache);
  if (!writer.ok()) return writer.error();
  auto of_generator = writer->generator.bind({.linears = tensors->generator.layers});
  if (!of_generator.ok()) return of_generator.error();
  auto of_extractor = model.extractor().bind(tensors->extractor.layers);
  if (!of_extractor.ok()) return of_extractor.error();
  return std::unique_ptr<MethodSession>(std::make_unique<DyleSession>(
      request, std::move(model), *std::move(tensors), *std::move(writer), *std::move(of_extractor),
      *std::move(of_generator)));
}

}  // namespace

SessionFactory session_factory() { return {"dyle", &open, &open_training}; }

}  // namespace qfs::dyle
