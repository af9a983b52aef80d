#include <algorithm>
#include <optional>
#include <utility>

#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "methods/locator/session.h"
#include "methods/locator/spec.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/prompted/lora_training.h"
#include "methods/models/prompted/tensor_training.h"
#include "methods/models/ranking/locator.h"
#include "methods/models/ranking/scorer_params.h"

namespace qfs::locator {

namespace {

using ranking::Reading;

constexpr const char* kFile = "locator.safetensors";

/// An example as it is learned from.
struct Learned {
  ranking::PackedSnippets packed;
  std::vector<int64_t> targets;  ///< not empty
};

/// Of a split.
struct LearnedSplit {
  std::vector<Learned> examples;
  int64_t skipped = 0;  ///< those without a turn to be found
};

/// What the loop asks for. `tensors` hold the leaves.
class Learner {
 public:
  Learner(const SessionRequest& request, const ranking::SnippetScorer& scorer,
          const ranking::ScorerTensors& tensors, LearnedSplit train, LearnedSplit development)
      : seed_(request.seed),
        train_chunks_(request.params.find<int64_t>("train_chunks")),
        recompute_(request.params.find<bool>("recompute").value_or(false) ? nn::Recompute::layers
                                                                          : nn::Recompute::nothing),
        scorer_(scorer),
        tensors_(tensors),
        train_(std::move(train)),
        development_(std::move(development)) {}

  training::TrainingTask task() {
    training::TrainingTask task;
    // An example's loss is a mean over its turns; what is read depends on the step.
    task.items.assign(train_.examples.size(), {.labels = 1});
    task.backward = [this](std::span<const int64_t> items, double scale, int64_t step) {
      return backward(items, scale, step);
    };
    task.observed = [this] {
      return std::map<std::string, double>{
          {"examples", static_cast<double>(train_.examples.size())},
          {"examples.skipped", static_cast<double>(train_.skipped)}};
    };
    if (!development_.examples.empty()) {
      task.development = [this] { return development(); };
    }
    return task;
  }

 private:
  Result<training::LossSum> backward(std::span<const int64_t> items, double scale, int64_t step) {
    training::LossSum all;
    // A forward pass, one back through frozen weights, and with recomputation one more.
    const int64_t passes = recompute_ == nn::Recompute::nothing ? 2 : 3;
    for (const int64_t i : items) {
      const Reading reading = drawn(train_.examples[static_cast<size_t>(i)], step, i);
      const auto loss = loss_of(reading, recompute_);
      if (!loss.ok()) return loss.error();
      const Status done = nn::guarded("computing gradients", [&]() -> Status {
        (*loss * scale).backward();
        all.loss += loss->item<double>();
        return {};
      });
      if (!done.ok()) return done.error();
      ++all.labels;
      all.tokens += reading.part.packed.tokens();
      all.flops += passes * scorer_.flops(reading.part.packed);
    }
    return all;
  }

  Result<training::LossSum> development() const {
    training::LossSum all;
    for (const Learned& one : development_.examples) {
      const auto loss =
          loss_of(ranking::whole_reading(one.packed, one.targets), nn::Recompute::nothing);
      if (!loss.ok()) return loss.error();
      all.loss += loss->item<double>();
      ++all.labels;
    }
    return all;
  }

  Reading drawn(const Learned& one, int64_t step, int64_t item) const {
    if (!train_chunks_) return ranking::whole_reading(one.packed, one.targets);
    const auto index =
        static_cast<uint64_t>(step) * train_.examples.size() + static_cast<uint64_t>(item);
    // Evidence is long: where all that is read is to be found, nothing is learned.
    return ranking::drawn_reading(one.packed, one.targets,
                                  {*train_chunks_, (*train_chunks_ + 1) / 2},
                                  Rng::derived(seed_, "chunks", index));
  }

  Result<at::Tensor> loss_of(const Reading& reading, nn::Recompute recompute) const {
    auto adapters = scorer_.bind(tensors_.adapter.layers);
    if (!adapters.ok()) return adapters.error();
    const auto scores =
        scorer_.scores(reading.part.packed, tensors_.head, *std::move(adapters), recompute);
    if (!scores.ok()) return scores;
    return nn::guarded("computing a loss", [&]() -> Result<at::Tensor> {
      return ranking::target_loss(*scores, reading.targets);
    });
  }

  uint64_t seed_;
  std::optional<int64_t> train_chunks_;
  nn::Recompute recompute_;
  const ranking::SnippetScorer& scorer_;
  const ranking::ScorerTensors& tensors_;
  LearnedSplit train_;
  LearnedSplit development_;
};

class LocatorTraining final : public TrainingSession {
 public:
  LocatorTraining(SessionRequest request, std::shared_ptr<const ranking::SnippetScorer> scorer,
                  ResourceCache& cache)
      : request_(std::move(request)), scorer_(std::move(scorer)), cache_(cache) {}

  Result<TrainingOutcome> fit(const FitRequest& request, const TrainingData& data,
                              TrainingProgress& progress) override {
    static const LocatorSpec kSpec;
    auto tensors = first_tensors();
    if (!tensors.ok()) return tensors.error();
    auto train = learned(data.train, "training");
    if (!train.ok()) return train.error();
    auto development = learned(data.development, "development");
    if (!development.ok()) return development.error();
    const training::Recipe recipe =
        prompted::recipe_of(request_.params, request_.seed, train->examples.size());
    Learner learner(request_, *scorer_, *tensors, *std::move(train), *std::move(development));
    return prompted::fit_tensors(
        request_, kSpec, request,
        {.recipe = recipe,
         .initial = tensors->all(),
         .replace = [&](const training::NamedTensors& leaves) { tensors->replace(leaves); },
         .make_task = [&]() -> Result<training::TrainingTask> { return learner.task(); },
         .keep = [&](const std::string& folder, const std::map<std::string, std::string>& metadata,
                     at::ScalarType type) -> Result<TrainedFile> {
           return prompted::keep_bytes(folder, ranking::kLocator, kFile,
                                       ranking::locator_bytes(*tensors, metadata, type));
         },
         .outputs = {session_factory().open, cache_, data.development}},
        progress);
  }

 private:
  Result<ranking::ScorerTensors> first_tensors() const {
    auto tensors = ranking::new_scorer_tensors(
        *scorer_, request_.params,
        prompted::lora_config(request_.params, "targets", scorer_->layers()), request_.seed);
    const auto init = request_.artifacts.find(ranking::kLocator);
    if (!tensors.ok() || init == request_.artifacts.end()) return tensors;
    const std::string& path = init->second.path;
    const auto given = ranking::read_locator(path, request_.backbones.at(ranking::kLocator));
    if (!given.ok()) return given.error();
    const Status begun = peft::begin_with(given->tensors.adapter, path, tensors->adapter);
    if (!begun.ok()) return begun.error();
    const Status same = ranking::check_same_score(given->tensors, path, *tensors);
    if (!same.ok()) return same.error();
    tensors->head = given->tensors.head;
    return tensors;
  }

  /// `what`: of the split, for people.
  Result<LearnedSplit> learned(const std::vector<NumberedExample>& examples,
                               const std::string& what) const {
    const bool by_evidence = request_.params.get<std::string>("learn_from") == "evidence";
    const ranking::ChunkRule rule{request_.params.get<int64_t>("chunk_tokens"),
                                  request_.params.get<int64_t>("max_chunks"), false,
                                  ranking::scores_by_similarity(request_.params)};
    LearnedSplit split;
    for (const NumberedExample& numbered : examples) {
      const Example& example = numbered.example;
      const auto snippets = ranking::snippets_of(example);
      if (!snippets.ok()) return snippets.error();
      auto packed = scorer_->pack(example.query, *snippets, rule);
      if (!packed.ok()) return ranking::of_example(packed.error(), example);
      const auto list =
          by_evidence ? ranking::evidence_list(example) : ranking::oracle_of(example, *snippets);
      if (!list.ok()) return list.error();
      auto targets = ranking::kept_targets(*list, *snippets, packed->visible());
      if (targets.empty()) {
        ++split.skipped;
        continue;
      }
      split.examples.push_back({*std::move(packed), std::move(targets)});
    }
    if (!examples.empty() && split.examples.empty()) {
      return data_error("none of the " + std::to_string(examples.size()) + " " + what +
                        " examples has " +
                        (by_evidence ? "gold evidence of more than 3 words that is read; "
                                       "\"learn_from\": \"oracle\" takes turns by the references"
                                     : "a turn in the oracle of its reference"));
    }
    return split;
  }

  SessionRequest request_;
  std::shared_ptr<const ranking::SnippetScorer> scorer_;
  ResourceCache& cache_;
};

}  // namespace

Result<std::unique_ptr<TrainingSession>> open_training(const SessionRequest& request,
                                                       ResourceCache& cache) {
  const auto model = request.backbones.find(ranking::kLocator);
  if (model == request.backbones.end()) return invalid_argument("no locator's encoder was given");
  auto scorer = ranking::SnippetScorer::open(model->second, cache);
  if (!scorer.ok()) return scorer.error();
  return std::unique_ptr<TrainingSession>(
      std::make_unique<LocatorTraining>(request, *std::move(scorer), cache));
}

}  // namespace qfs::locator
