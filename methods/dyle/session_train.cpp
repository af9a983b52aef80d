#include <c10/core/GradMode.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "harness/core/files.h"
#include "harness/core/rng.h"
#include "harness/core/sha256.h"
#include "methods/dyle/session.h"
#include "methods/dyle/session_artifact.h"
#include "methods/dyle/session_losses.h"
#include "methods/dyle/session_model.h"
#include "methods/dyle/spec.h"
#include "methods/models/nn/adapters.h"
#include "methods/models/nn/dropout.h"
#include "methods/models/nn/model_work.h"
#include "methods/models/nn/network.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/prompted/prompted_model.h"
#include "methods/models/prompted/tensor_training.h"
#include "methods/models/prompted/trained_spec.h"

namespace qfs::dyle {

namespace {

using ranking::Reading;

constexpr const char* kFile = "dyle.safetensors";

/// An example as it is learned from.
struct Learned {
  const Example* example = nullptr;
  Candidates candidates;
  std::vector<int64_t> oracle;
  Target target;
};

/// Weights of the losses, and what is learned when.
struct Schedule {
  Schedule(const Params& params, uint64_t seed, const nn::DropoutRates& extractor_dropout,
           const nn::DropoutRates& generator_dropout)
      : seed(seed),
        train_chunks(params.find<int64_t>("train_chunks")),
        generation(params.get<double>("lambda_generation")),
        oracle(params.get<double>("lambda_oracle")),
        consistency(params.find<double>("lambda_consistency").value_or(0)),
        hybrid(params.get<bool>("hybrid")),
        prior_gradients(params.find<bool>("static_prior_grad").value_or(false)),
        extractor_steps(params.get<int64_t>("extractor_steps")),
        recompute(params.find<bool>("recompute").value_or(false) ? nn::Recompute::layers
                                                                 : nn::Recompute::nothing),
        extractor_dropout(extractor_dropout),
        generator_dropout(generator_dropout) {}

  /// The generator reads what the extractor finds best, too.
  bool without_oracle() const { return !hybrid && oracle == 0; }

  uint64_t seed;
  std::optional<int64_t> train_chunks;
  double generation;
  double oracle;
  double consistency;
  bool hybrid;
  bool prior_gradients;
  int64_t extractor_steps;
  nn::Recompute recompute;
  nn::DropoutRates extractor_dropout;
  nn::DropoutRates generator_dropout;
};

/// How one example is read: in training as the schedule says, else with neither.
struct Pass {
  nn::Recompute recompute = nn::Recompute::nothing;
  std::optional<uint64_t> drawn = {};  ///< the stream of what is dropped

  /// Of the extractor, or of one of the generator's rows.
  std::shared_ptr<const nn::Dropout> dropout(const nn::DropoutRates& rates, uint64_t part) const {
    if (!drawn || !rates.any()) return nullptr;
    return std::make_shared<const nn::Dropout>(nn::Dropout{rates, *drawn}.of_part(part));
  }
};

/// What the loop asks for. `tensors` hold the leaves.
class Learner {
 public:
  Learner(DyleModel model, const DyleTensors& tensors, std::shared_ptr<const nn::Decoder> decoder,
          const Schedule& schedule, std::vector<Learned> train, std::vector<Learned> development)
      : model_(std::move(model)),
        tensors_(tensors),
        decoder_(std::move(decoder)),
        schedule_(schedule),
        train_(std::move(train)),
        development_(std::move(development)) {}

  /// The generator's loss is a sum over tokens, and the batch's the mean over its examples. What is
  /// read depends on the step.
  std::vector<training::TrainingItem> items() const {
    return std::vector<training::TrainingItem>(train_.size(), {.labels = 1});
  }
  bool has_development() const { return !development_.empty(); }

  Result<training::LossSum> backward(std::span<const int64_t> chosen, double scale, int64_t step) {
    if (step != step_) {
      observed_.clear();
      extractor_took_part_ = false;
      generator_took_part_ = false;
    }
    step_ = step;
    read_ = {};
    training::LossSum all;
    for (const int64_t i : chosen) {
      const Learned& one = train_[static_cast<size_t>(i)];
      const uint64_t draw = static_cast<uint64_t>(step) * train_.size() + static_cast<uint64_t>(i);
      const Reading reading = drawn_reading(one, draw);
      const Pass pass = drawn_pass(draw);
      auto loss = step < schedule_.extractor_steps ? extractor_loss(reading, pass)
                                                   : joint_loss(one, reading, pass);
      if (!loss.ok()) return loss.error();
      const Status done = nn::guarded("computing gradients", [&]() -> Status {
        if (loss->requires_grad()) (*loss * scale).backward();
        all.loss += loss->item<double>();
        return {};
      });
      if (!done.ok()) return done.error();
      ++all.labels;
    }
    all.tokens = read_.tokens;
    all.flops = read_.flops;
    return all;
  }

  /// Means over the examples of the step whose gradients were computed last.
  std::map<std::string, double> observed() const {
    std::map<std::string, double> means;
    for (const auto& [name, sum] : observed_) {
      means[name] = sum.first / static_cast<double>(sum.second);
    }
    return means;
  }

  /// Of the step whose gradients were computed last.
  bool took_part(const std::string& name) const {
    const bool of_extractor = name.starts_with("classifier.") || name.starts_with("extractor.");
    return of_extractor ? extractor_took_part_ : generator_took_part_;
  }

  /// The generator's loss with the extractor's snippets, as it writes, a token.
  Result<training::LossSum> development() const {
    training::LossSum all;
    for (const Learned& one : development_) {
      const Reading reading = ranking::whole_reading(one.candidates.packed, one.oracle);
      const auto scores = score(reading, {});
      if (!scores.ok()) return scores.error();
      const Selection selection = best_of(values_of(*scores), model_.settings().rule);
      const auto rows = rows_of(one, reading, selection, {});
      if (!rows.ok()) return rows.error();
      const auto made = losses(one, *rows, reading, *scores, selection, nn::Recompute::nothing);
      if (!made.ok()) return made.error();
      all.loss += made->generation.item<double>();
      all.labels += std::ranges::count_if(one.target.labels, [](int64_t id) { return id >= 0; });
    }
    return all;
  }

 private:
  static std::span<const float> values_of(const at::Tensor& scores) {
    return {scores.const_data_ptr<float>(), static_cast<size_t>(scores.numel())};
  }

  /// Indices of the oracle, as those of scores and selections, count what is read.
  Reading drawn_reading(const Learned& one, uint64_t draw) const {
    const ranking::PackedSnippets& packed = one.candidates.packed;
    if (!schedule_.train_chunks) return ranking::whole_reading(packed, one.oracle);
    return ranking::drawn_reading(packed, one.oracle,
                                  {*schedule_.train_chunks, *schedule_.train_chunks},
                                  Rng::derived(schedule_.seed, "chunks", draw));
  }

  Pass drawn_pass(uint64_t draw) const {
    return {schedule_.recompute, Rng::derived(schedule_.seed, "dropout", draw).next()};
  }

  Result<at::Tensor> score(const Reading& reading, const Pass& pass) const {
    auto adapters = model_.extractor().bind(tensors_.extractor.adapter.layers);
    if (!adapters.ok()) return adapters.error();
    return model_.extractor().scores(reading.part.packed, tensors_.extractor.head,
                                     *std::move(adapters), pass.recompute,
                                     pass.dropout(schedule_.extractor_dropout, 0).get());
  }

  nn::LearningPass pass_of(int64_t labels) const {
    return {.labels = labels,
            .weights = !tensors_.generator_weights.empty(),
            .recompute = schedule_.recompute != nn::Recompute::nothing};
  }

  void count(const ranking::PackedSnippets& packed) {
    read_.tokens += packed.tokens();
    read_.flops += pass_of(0).products() * model_.extractor().flops(packed);
  }

  void count(const GeneratorRows& rows, const Target& target) {
    const nn::ModelWork work = model_.generator().network->work({});
    const bool encoder_decoder = work.encoder_decoder();
    const auto begun = static_cast<int64_t>(target.begun.size());
    const auto labels = static_cast<int64_t>(target.labels.size());
    for (const nn::SequenceInput& row : rows.inputs) {
      const auto read = static_cast<int64_t>(row.ids.size());
      read_.tokens += read + begun;
      read_.flops += nn::learning_flops(
          work, {.tokens = encoder_decoder ? read : read + begun, .begun = begun}, pass_of(labels));
    }
  }

  Result<at::Tensor> extractor_loss(const Reading& reading, const Pass& pass) {
    const auto scores = score(reading, pass);
    if (!scores.ok()) return scores;
    count(reading.part.packed);
    return nn::guarded("computing a loss", [&]() -> Result<at::Tensor> {
      const at::Tensor loss = ranking::target_loss(*scores, reading.targets);
      if (loss.requires_grad()) extractor_took_part_ = true;
      observe("loss.oracle", loss.item<double>());
      return loss * schedule_.oracle;
    });
  }

  Result<at::Tensor> joint_loss(const Learned& one, const Reading& reading, const Pass& pass) {
    const auto scores = score(reading, pass);
    if (!scores.ok()) return scores;
    const std::span<const int64_t> oracle =
        schedule_.without_oracle() ? std::span<const int64_t>() : reading.targets;
    const Selection selection =
        for_training(values_of(*scores), oracle, schedule_.hybrid, model_.settings().rule);
    const auto rows = rows_of(one, reading, selection, pass);
    if (!rows.ok()) return rows.error();
    const auto losses = this->losses(one, *rows, reading, *scores, selection, pass.recompute);
    if (!losses.ok()) return losses.error();
    count(reading.part.packed);
    count(*rows, one.target);
    return nn::guarded("computing a loss", [&]() -> Result<at::Tensor> {
      generator_took_part_ = true;
      if (losses->oracle.requires_grad() || losses->consistency.requires_grad() ||
          schedule_.prior_gradients) {
        extractor_took_part_ = true;
      }
      observe("loss.generation", losses->generation.item<double>());
      observe("loss.oracle", losses->oracle.item<double>());
      observe("loss.consistency", losses->consistency.item<double>());
      observe("gate.entropy", losses->gate_entropy);
      return losses->generation.to(at::kCPU) * schedule_.generation +
             losses->oracle * schedule_.oracle + losses->consistency * schedule_.consistency;
    });
  }

  Result<GeneratorRows> rows_of(const Learned& one, const Reading& reading,
                                const Selection& selection, const Pass& pass) const {
    Selection of_document = selection;
    for (int64_t& i : of_document.snippets) i = reading.part.snippets[static_cast<size_t>(i)];
    auto rows = model_.rows(*one.example, one.candidates, of_document);
    if (!rows.ok()) return rows;
    auto adapters = generator_adapters(tensors_, *decoder_);
    if (!adapters.ok()) return adapters.error();
    uint64_t part = 1;
    for (nn::SequenceInput& input : rows->inputs) {
      input.adapters = *adapters;
      input.dropout = pass.dropout(schedule_.generator_dropout, part++);
    }
    return rows;
  }

  Result<Losses> losses(const Learned& one, const GeneratorRows& rows, const Reading& reading,
                        const at::Tensor& scores, const Selection& selection,
                        nn::Recompute recompute) const {
    const auto read = read_target(*decoder_, rows, one.target, recompute);
    if (!read.ok()) return read.error();
    return nn::guarded("computing losses", [&]() -> Result<Losses> {
      return losses_of(model_.settings(), tensors_, scores, reading.targets, selection, *read,
                       schedule_.prior_gradients);
    });
  }

  void observe(const std::string& name, double value) {
    auto& [sum, count] = observed_[name];
    sum += value;
    ++count;
  }

  DyleModel model_;
  const DyleTensors& tensors_;
  std::shared_ptr<const nn::Decoder> decoder_;
  Schedule schedule_;
  std::vector<Learned> train_;
  std::vector<Learned> development_;
  int64_t step_ = -1;
  // What the losses of that step have gradients of; an oracle may be empty.
  bool extractor_took_part_ = false;
  bool generator_took_part_ = false;
  training::LossSum read_;  ///< tokens and operations since `backward` was called
  std::map<std::string, std::pair<double, int64_t>> observed_;
};

class DyleTraining final : public TrainingSession {
 public:
  DyleTraining(SessionRequest request, DyleModel model, std::shared_ptr<const nn::Decoder> decoder,
               prompted::OpenSession open, ResourceCache& cache)
      : request_(std::move(request)),
        model_(std::move(model)),
        decoder_(std::move(decoder)),
        open_(std::move(open)),
        cache_(cache) {}

  Result<TrainingOutcome> fit(const FitRequest& request, const TrainingData& data,
                              TrainingProgress& progress) override {
    static const DyleSpec kSpec;
    const Params& params = request_.params;
    auto begun = beginning();
    if (!begun.ok()) return begun.error();
    DyleTensors tensors = *std::move(begun);
    training::Recipe recipe = prompted::recipe_of(params, request_.seed, data.train.size());
    if (Status some = check_extractor_steps(params, recipe.steps); !some.ok()) return some.error();
    // transformers 4.8.1, with which DYLE was trained.
    recipe.epsilon = 1e-6;
    recipe.epsilon_first = true;
    const double rate = params.get<double>("learning_rate");
    const double factor = rate == 0 ? 0 : params.get<double>("extractor_learning_rate") / rate;
    recipe.rate_factors = {{"classifier.", factor}, {"extractor.", factor}};
    std::unique_ptr<Learner> learner;
    return prompted::fit_tensors(
        request_, kSpec, request,
        {.recipe = recipe,
         .initial = tensors.all(),
         .replace = [&](const training::NamedTensors& leaves) { tensors.replace(leaves); },
         .make_task = [&]() -> Result<training::TrainingTask> {
           auto train = learned(data.train);
           if (!train.ok()) return train.error();
           auto development = learned(data.development);
           if (!development.ok()) return development.error();
           const TrainedOver over = trained_over(tensors);
           const auto of_extractor = prompted::dropout_rates(params, model_.extractor().dropout());
           if (!of_extractor.ok()) return of_extractor.error();
           const auto of_generator = prompted::dropout_rates(params, decoder_->shape().dropout);
           if (!of_generator.ok()) return of_generator.error();
           learner = std::make_unique<Learner>(
               over.model, tensors, over.decoder,
               Schedule(params, request_.seed, *of_extractor, *of_generator), *std::move(train),
               *std::move(development));
           return task_of(*learner);
         },
         .keep = [&](const std::string& folder, const std::map<std::string, std::string>& metadata,
                     at::ScalarType type) -> Result<TrainedFile> {
           if (!tensors.generator_weights.empty())
             return keep_weights(tensors, folder, metadata, type);
           return prompted::keep_bytes(
               folder, prompted::kAdapter, kFile,
               artifact_bytes(tensors, request_.backbones.at(kExtractor).digest, metadata, type));
         },
         .outputs = {open_, cache_, data.development}},
        progress);
  }

 private:
  Result<DyleTensors> beginning() const {
    const Params& params = request_.params;
    const auto init = request_.artifacts.find(prompted::kAdapter);
    if (init != request_.artifacts.end() && prompted::all_weights(params)) {
      return weights_to_begin_with(init->second, request_, model_);
    }
    auto tensors = new_tensors(params, request_.seed, model_, *decoder_);
    if (!tensors.ok() || init == request_.artifacts.end()) return tensors;
    if (Status begun = begin_with(init->second.path, request_, *tensors); !begun.ok()) {
      return begun.error();
    }
    return tensors;
  }

  static training::TrainingTask task_of(Learner& learner) {
    training::TrainingTask task;
    task.items = learner.items();
    task.backward = [&learner](std::span<const int64_t> items, double scale, int64_t step) {
      return learner.backward(items, scale, step);
    };
    task.observed = [&learner] { return learner.observed(); };
    task.took_part = [&learner](const std::string& name) { return learner.took_part(name); };
    if (learner.has_development()) task.development = [&learner] { return learner.development(); };
    return task;
  }

  /// Both models, over the leaves where their weights are trained.
  struct TrainedOver {
    DyleModel model;
    std::shared_ptr<const nn::Decoder> decoder;
  };
  TrainedOver trained_over(const DyleTensors& tensors) const {
    if (tensors.generator_weights.empty()) return {model_, decoder_};
    return {model_.with_extractor(model_.extractor().over(tensors.extractor.weights)),
            nn::with_weights(*decoder_, tensors.generator_weights)};
  }

  Result<TrainedFile> keep_weights(const DyleTensors& tensors, const std::string& folder,
                                   const std::map<std::string, std::string>& metadata,
                                   at::ScalarType type) const {
    const TrainedOver over = trained_over(tensors);
    const Status written =
        write_weights(folder + "/" + kFile, tensors, over.model.extractor(), *over.decoder,
                      request_.backbones.at(kExtractor).digest, metadata, type);
    if (!written.ok()) return written.error();
    return prompted::kept_file(folder, prompted::kAdapter, kFile);
  }

  Result<std::vector<Learned>> learned(const std::vector<NumberedExample>& examples) const {
    const auto most = request_.params.get<int64_t>("label_tokens");
    std::vector<Learned> all;
    for (const NumberedExample& numbered : examples) {
      const Example& example = numbered.example;
      auto candidates = model_.candidates(example);
      if (!candidates.ok()) return candidates.error();
      auto oracle = model_.oracle(example, *candidates);
      if (!oracle.ok()) return oracle.error();
      all.push_back({&example, *std::move(candidates), *std::move(oracle),
                     model_.target(example.references.front(), most)});
    }
    return all;
  }

  SessionRequest request_;
  DyleModel model_;
  std::shared_ptr<const nn::Decoder> decoder_;
  prompted::OpenSession open_;
  ResourceCache& cache_;
};

}  // namespace

Result<std::unique_ptr<TrainingSession>> open_training(const SessionRequest& request,
                                                       ResourceCache& cache) {
  const auto role = request.backbones.find(kExtractor);
  if (role == request.backbones.end()) return invalid_argument("no extractor was given");
  SessionRequest training = request;
  training.runtime.dtype = request.params.get<std::string>("train_dtype");
  auto backbone = prompted::open_backbone(request, cache);
  if (!backbone.ok()) return backbone.error();
  const bool decoder_only = !(*backbone)->network->shape().encoder_decoder();
  if (decoder_only && (*backbone)->generation.end_ids.empty()) {
    return unavailable("the backbone names no end token, with which summaries are learned to end");
  }
  auto extractor = ranking::SnippetScorer::open(role->second, cache);
  if (!extractor.ok()) return extractor.error();
  auto decoder = (*backbone)->network->decoder(training.runtime, (*backbone)->digest, cache);
  if (!decoder.ok()) return decoder.error();
  auto model = DyleModel::open(request.params, *std::move(extractor), *std::move(backbone));
  if (!model.ok()) return model.error();
  return std::unique_ptr<TrainingSession>(std::make_unique<DyleTraining>(
      request, *std::move(model), *std::move(decoder), session_factory().open, cache));
}

}  // namespace qfs::dyle
