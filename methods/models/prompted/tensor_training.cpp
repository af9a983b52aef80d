#include "methods/models/prompted/tensor_training.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/json_dom.h"
#include "harness/core/sha256.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::prompted {

namespace {

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
  const auto canonical = canonical_json(text);
  if (!canonical.ok()) return canonical.error();
  return canonical->text;
}

/// What training reads besides its data.
std::string digests_of(const SessionRequest& request) {
  std::string digests = request.backbone->digest;
  for (const auto& [role, model] : request.backbones) digests += "\n" + role + " " + model.digest;
  return digests;
}

}  // namespace

training::Recipe recipe_of(const Params& params, uint64_t seed, size_t examples) {
  training::Recipe recipe;
  recipe.seed = seed;
  recipe.batch_size = params.get<int64_t>("train_batch");
  const int64_t read = params.get<int64_t>("epochs") * static_cast<int64_t>(examples);
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
  recipe.checkpoint_every = params.get<int64_t>("checkpoint_every");
  return recipe;
}

Result<TrainingOutcome> fit_tensors(const SessionRequest& request, const MethodSpec& spec,
                                    const FitRequest& fit, const TensorTraining& training,
                                    TrainingProgress& progress) {
  const auto text = recipe_text(spec, request.params);
  if (!text.ok()) return text.error();
  training::TrainedTensors trained(training.initial);
  training.replace(trained.tensors());
  const auto task = training.make_task();
  if (!task.ok()) return task.error();
  const std::string identity =
      sha256_hex(*text + "\n" + std::to_string(request.seed) + "\n" + digests_of(request) + "\n" +
                 fit.training_cell + "\n" + std::to_string(training.recipe.steps));
  const auto model =
      training::train(training.recipe, *task, {fit.folder, identity, fit.steps}, trained, progress);
  if (!model.ok()) return model.error();
  TrainingOutcome outcome{{}, model->cost};
  if (!model->finished) return outcome;
  return nn::guarded("keeping what was trained", [&]() -> Result<TrainingOutcome> {
    trained.values().copy_(model->best);
    const bool rounded = request.params.get<std::string>("save_dtype") == "bfloat16";
    const auto file = training.keep({{"qfs.method", std::string(spec.name())},
                                     {"qfs.backbone", request.backbone->digest},
                                     {"qfs.training_cell", fit.training_cell},
                                     {"qfs.recipe", *text}},
                                    rounded ? at::kBFloat16 : at::kFloat);
    if (!file.ok()) return file.error();
    outcome.files.push_back(*file);
    return outcome;
  });
}

}  // namespace qfs::prompted
