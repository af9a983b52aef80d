#include "methods/models/prompted/tensor_training.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "harness/core/files.h"
#include "harness/core/json_dom.h"
#include "harness/core/sha256.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/prompted/memory_params.h"
#include "methods/models/prompted/prompt_maker.h"
#include "methods/models/prompted/recipe_params.h"
#include "methods/models/prompted/trained_spec.h"
#include "methods/models/prompted/weights_training.h"
#include "metrics/rouge/rouge_scorer.h"

namespace qfs::prompted {

namespace {

constexpr const char* kRecipe = "qfs.recipe";

training::Schedule schedule_named(const std::string& name) {
  if (name == "constant") return training::Schedule::constant;
  return name == "linear" ? training::Schedule::linear : training::Schedule::cosine;
}

/// The parameters of a training as one JSON object, without those that are in no id.
Result<std::string> recipe_text(const MethodSpec& spec, const Params& params) {
  nlohmann::json text = nlohmann::json::object();
  for (const ParamSpec& param : spec.params()) {
    const auto value = params.values().find(param.name);
    if (param.stage == Stage::predict || param.transport || value == params.values().end()) {
      continue;
    }
    std::visit([&](const auto& held) { text[param.name] = held; }, value->second);
  }
  if (has_memory(params)) {  // what a version takes where it is left out
    const MemoryForm form = memory_form(params);
    text["memory_rule"] = form.rule;
    if (params.find<std::string>("memory") == "qf_infini") text["alpha_scale"] = form.alpha_scale;
  }
  const auto canonical = canonical_json(text);
  if (!canonical.ok()) return canonical.error();
  return canonical->text;
}

/// What is trained: the backbone, or of a method without one its model.
const Resource& trained_model(const SessionRequest& request) {
  return request.backbone ? *request.backbone : request.backbones.begin()->second;
}

/// What training reads besides its data.
std::string digests_of(const SessionRequest& request) {
  std::string digests = trained_model(request).digest;
  for (const auto& [role, model] : request.backbones) digests += "\n" + role + " " + model.digest;
  return digests;
}

/// In which the file is kept.
at::ScalarType type_of(const SessionRequest& request) {
  return request.params.get<std::string>("save_dtype") == "bfloat16" ? at::kBFloat16 : at::kFloat;
}

/// Keeps the predictions of a unit, and passes over its times.
class KeptPredictions final : public PredictionSink {
 public:
  void emit(int64_t ordinal, Prediction prediction) override {
    texts[ordinal] = std::move(prediction.text);
  }
  void phase(const Phase&) override {}

  std::map<int64_t, std::string> texts;
};

/// Document tokens of a window that a training reads in; nothing: documents are read whole.
std::optional<int64_t> learned_window(const Params& params) {
  if (const auto window = params.find<int64_t>("train_window")) return window;
  if (!has_memory(params)) return std::nullopt;
  return params.find<int64_t>("train_segment").value_or(kTrainSegment);
}

/// A prediction cell's request for what lies in `file`: parameters that the training does not have
/// are at their defaults, and lengths are those of what is learned.
SessionRequest writing_request(const SessionRequest& training, const MethodSpec& spec,
                               Resource file) {
  SessionRequest request = training;
  request.artifacts = {{file.name, file}};
  const std::optional<int64_t> window = learned_window(training.params);
  for (const ParamSpec& param : spec.params()) {
    if (request.params.has(param.name)) continue;
    if (param.default_value) {
      request.params.set(param.name, *param.default_value);
    } else if (param.name == "local_context") {
      request.params.set(param.name,
                         window ? *window : training.params.get<int64_t>("train_tokens"));
    } else if (window && param.name == "input_tokens") {
      request.params.set(param.name, training.params.get<int64_t>("train_tokens"));
    }
  }
  const Params decoding = selecting_decoding(training.params);
  for (const auto& [name, value] : decoding.values()) request.params.set(name, value);
  if (const auto tokens = training.params.find<int64_t>("train_tokens")) {
    request.params.set(kLongestSource, *tokens);
  }
  return request;
}

/// Mean over the development examples of F of the ROUGE with this name.
Result<double> mean_rouge(MethodSession& session, std::span<const NumberedExample> examples,
                          const std::string& name) {
  metrics::RougeScorer rouge;
  double sum = 0;
  for (const NumberedExample& one : examples) {
    KeptPredictions kept;
    const Status written = session.run({&one, 1}, kept);
    if (!written.ok()) return written.error();
    const auto scores = rouge.score_multi(one.example.references, kept.texts.at(one.ordinal));
    if (!scores.ok()) return scores.error();
    if (name == "rouge1" || name == "rouge_sum") sum += scores->rouge1.f;
    if (name == "rouge2" || name == "rouge_sum") sum += scores->rouge2.f;
    if (name == "rougeL" || name == "rouge_sum") sum += scores->rougeL.f;
  }
  return sum / static_cast<double>(examples.size());
}

/// The score that `select_by` names, of what the leaves hold.
training::TrainingTask::Score output_score(const std::string& name, const SessionRequest& request,
                                           const MethodSpec& spec, const std::string& folder,
                                           const TensorTraining& training) {
  return {
      name, [&, name, folder]() -> Result<double> {
        if (Status made = make_directories(folder); !made.ok()) return made.error();
        const auto file = training.keep(folder, {{"qfs.backbone", trained_model(request).digest}},
                                        type_of(request));
        if (!file.ok()) return file.error();
        // A whole model is opened for these outputs alone.
        ResourceCache passing = training.outputs.cache;
        const bool whole = all_weights(request.params) || file->name == kWeights;
        const auto session = training.outputs.open(
            writing_request(request, spec, {file->role, folder + "/" + file->name, file->sha256}),
            whole ? passing : training.outputs.cache);
        if (!session.ok()) return session.error();
        return mean_rouge(**session, training.outputs.development, name);
      }};
}

}  // namespace

Result<TrainedFile> kept_file(const std::string& folder, const char* role,
                              const std::string& name) {
  const std::string path = folder + "/" + name;
  const auto digest = sha256_file(path);
  if (!digest.ok()) return digest.error();
  return TrainedFile{role, name, *digest, static_cast<int64_t>(std::filesystem::file_size(path))};
}

Result<TrainedFile> keep_bytes(const std::string& folder, const char* role, const std::string& name,
                               const std::string& bytes) {
  if (Status written = write_file(folder + "/" + name, bytes); !written.ok()) {
    return written.error();
  }
  return TrainedFile{role, name, sha256_hex(bytes), static_cast<int64_t>(bytes.size())};
}

training::Recipe recipe_of(const Params& params, uint64_t seed, size_t examples) {
  training::Recipe recipe;
  recipe.seed = seed;
  recipe.batch_size = params.get<int64_t>("train_batch");
  recipe.whole_batches = params.find<bool>("whole_batches").value_or(false);
  recipe.warmup_from_zero = params.find<bool>("warmup_from_zero").value_or(false);
  const int64_t read = params.get<int64_t>("epochs") *
                       training::epoch_examples(recipe, static_cast<int64_t>(examples));
  recipe.steps =
      params.find<int64_t>("steps").value_or((read + recipe.batch_size - 1) / recipe.batch_size);
  recipe.order = params.get<std::string>("data_order") == "file" ? training::DataOrder::file
                                                                 : training::DataOrder::shuffled;
  if (const auto tokens = params.find<int64_t>("train_tokens")) recipe.micro_tokens = *tokens;
  if (const auto tokens = params.find<int64_t>("micro_tokens")) recipe.micro_tokens = *tokens;
  recipe.learning_rate = params.get<double>("learning_rate");
  recipe.schedule = schedule_named(params.get<std::string>("schedule"));
  recipe.warmup_steps =
      static_cast<int64_t>(params.get<double>("warmup") * static_cast<double>(recipe.steps));
  recipe.weight_decay = params.get<double>("weight_decay");
  if (const auto beta2 = params.find<double>("beta2")) recipe.beta2 = *beta2;
  if (const double norm = params.get<double>("clip_norm"); norm > 0) recipe.clip_norm = norm;
  recipe.evaluate_every = params.get<int64_t>("evaluate_every");
  recipe.patience = params.get<int64_t>("patience");
  recipe.halve_after = params.find<int64_t>("halve_after").value_or(0);
  recipe.checkpoint_every = params.get<int64_t>("checkpoint_every");
  return recipe;
}

Result<std::map<std::string, std::string>> file_metadata(const SessionRequest& request,
                                                         const MethodSpec& spec,
                                                         const FitRequest& fit) {
  const auto recipe = recipe_text(spec, request.params);
  if (!recipe.ok()) return recipe.error();
  return std::map<std::string, std::string>{{"qfs.method", std::string(spec.name())},
                                            {"qfs.backbone", trained_model(request).digest},
                                            {"qfs.training_cell", fit.training_cell},
                                            {kRecipe, *recipe}};
}

Result<TrainingOutcome> fit_tensors(const SessionRequest& request, const MethodSpec& spec,
                                    const FitRequest& fit, const TensorTraining& training,
                                    TrainingProgress& progress) {
  const auto metadata = file_metadata(request, spec, fit);
  if (!metadata.ok()) return metadata.error();
  training::TrainedTensors trained(training.initial);
  training.replace(trained.tensors());
  auto task = training.make_task();
  if (!task.ok()) return task.error();
  const Status fits =
      spec.check_training(request.params, {.examples = static_cast<int64_t>(task->items.size()),
                                           .development = task->development != nullptr,
                                           .begins = request.artifacts.contains(kAdapter)});
  if (!fits.ok()) return fits.error();
  if (chosen_by_outputs(request.params)) {
    task->score = output_score(request.params.get<std::string>(kSelectBy), request, spec,
                               fit.folder + "/development", training);
  }
  const std::string identity = sha256_hex(
      metadata->at(kRecipe) + "\n" + std::to_string(request.seed) + "\n" + digests_of(request) +
      "\n" + fit.training_cell + "\n" + std::to_string(training.recipe.steps));
  const auto model =
      training::train(training.recipe, *task, {fit.folder, identity, fit.steps}, trained, progress);
  if (!model.ok()) return model.error();
  TrainingOutcome outcome{{}, model->cost};
  if (!model->finished) return outcome;
  return nn::guarded("keeping what was trained", [&]() -> Result<TrainingOutcome> {
    trained.values().copy_(model->best);
    const auto file = training.keep(fit.folder, *metadata, type_of(request));
    if (!file.ok()) return file.error();
    outcome.files.push_back(*file);
    return outcome;
  });
}

}  // namespace qfs::prompted
