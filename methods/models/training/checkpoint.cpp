#include "methods/models/training/checkpoint.h"

#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/json_dom.h"
#include "methods/models/checkpoints/safetensors.h"

namespace qfs::training {

namespace {

using nlohmann::json;

const std::string kFile(checkpoints::kTrainingCheckpoint);
constexpr const char* kStateKey = "qfs.training";

json cost_json(const TrainingCost& cost) {
  return {{"seconds", cost.seconds},
          {"steps", cost.steps},
          {"tokens", cost.tokens},
          {"flops", cost.flops},
          {"trainable_parameters", cost.trainable_parameters},
          {"peak_bytes", cost.peak_bytes}};
}

std::string state_text(const TrainingState& state,
                       const std::map<std::string, int64_t>& steps_passed) {
  json curve = json::array();
  for (const TrainingPoint& point : state.curve) {
    curve.push_back({{"step", point.step}, {"values", point.values}});
  }
  json text = {{"version", 1},
               {"identity", state.identity},
               {"step", state.step},
               {"ended", state.ended},
               {"since_best", state.since_best},
               {"cost", cost_json(state.cost)},
               {"curve", std::move(curve)}};
  if (state.best_loss) text["best_loss"] = *state.best_loss;
  if (state.halvings > 0) text["halvings"] = state.halvings;
  if (!steps_passed.empty()) text["steps_passed"] = steps_passed;
  return text.dump();
}

/// Throws what nlohmann throws for a file that is not ours.
TrainingState state_of(const json& text, std::map<std::string, int64_t>& steps_passed) {
  TrainingState state;
  state.identity = text.at("identity").get<std::string>();
  state.step = text.at("step").get<int64_t>();
  state.ended = text.at("ended").get<bool>();
  state.since_best = text.at("since_best").get<int64_t>();
  if (text.contains("best_loss")) state.best_loss = text.at("best_loss").get<double>();
  const json& cost = text.at("cost");
  state.cost = {.seconds = cost.at("seconds").get<double>(),
                .steps = cost.at("steps").get<int64_t>(),
                .tokens = cost.at("tokens").get<int64_t>(),
                .flops = cost.at("flops").get<int64_t>(),
                .trainable_parameters = cost.at("trainable_parameters").get<int64_t>(),
                .peak_bytes = cost.at("peak_bytes").get<int64_t>()};
  state.halvings = text.value("halvings", int64_t{0});
  steps_passed = text.value("steps_passed", std::map<std::string, int64_t>());
  for (const json& point : text.at("curve")) {
    state.curve.push_back({.step = point.at("step").get<int64_t>(),
                           .values = point.at("values").get<std::map<std::string, double>>()});
  }
  return state;
}

Result<TrainingState> parse_state(const std::string& text, const std::string& source,
                                  std::map<std::string, int64_t>& steps_passed) {
  const auto parsed = parse_json(text, source);
  if (!parsed.ok()) return parsed.error();
  try {
    return state_of(*parsed, steps_passed);
  } catch (const json::exception& error) {
    return data_error(std::string("not the state of a training: ") + error.what(), source);
  }
}

std::vector<std::pair<const char*, at::Tensor*>> tensors_of(TrainedTensors& trained,
                                                            at::Tensor& best) {
  return {{"best", &best},
          {"first_moments", &trained.first_moments()},
          {"second_moments", &trained.second_moments()},
          {"values", &trained.values()}};
}

}  // namespace

Status write_checkpoint(const std::string& folder, const TrainingCheckpoint& checkpoint,
                        TrainedTensors& trained) {
  at::Tensor best = checkpoint.best;
  std::vector<at::Tensor> held;
  std::vector<checkpoints::StoredTensor> stored;
  for (const auto& [name, tensor] : tensors_of(trained, best)) {
    const at::Tensor& values = held.emplace_back(tensor->to(at::kCPU).contiguous());
    stored.push_back({name,
                      checkpoints::TensorType::f32,
                      {values.numel()},
                      {static_cast<const char*>(values.const_data_ptr()), values.nbytes()}});
  }
  return checkpoints::write_safetensors(
      folder + "/" + kFile, std::move(stored),
      {{kStateKey, state_text(checkpoint.state, trained.steps_passed())}});
}

Result<std::optional<TrainingCheckpoint>> read_checkpoint(const std::string& folder,
                                                          const std::string& identity,
                                                          TrainedTensors& trained) {
  const std::string path = folder + "/" + kFile;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::optional<TrainingCheckpoint>();
  const auto file = checkpoints::open_safetensors(path);
  if (!file.ok()) return file.error();
  const auto text = (*file)->metadata().find(kStateKey);
  if (text == (*file)->metadata().end()) return data_error("no checkpoint of a training", path);
  std::map<std::string, int64_t> steps_passed;
  auto state = parse_state(text->second, path, steps_passed);
  if (!state.ok()) return state.error();
  if (state->identity != identity) {
    return data_error("the checkpoint of another training; remove it to begin anew", path);
  }
  TrainingCheckpoint checkpoint{*std::move(state), at::empty({trained.count()}, at::kFloat)};
  const int64_t shape[] = {trained.count()};
  for (const auto& [name, tensor] : tensors_of(trained, checkpoint.best)) {
    const auto entry = (*file)->require(name, shape);
    if (!entry.ok()) return entry.error();
    const at::Tensor values = at::empty({trained.count()}, at::kFloat);
    const Status read = (*file)->read(
        **entry, {values.mutable_data_ptr<float>(), static_cast<size_t>(trained.count())});
    if (!read.ok()) return read.error();
    const c10::AutoGradMode without_gradients(false);
    tensor->copy_(values);
  }
  trained.steps_passed() = std::move(steps_passed);
  return std::optional<TrainingCheckpoint>(std::move(checkpoint));
}

}  // namespace qfs::training
