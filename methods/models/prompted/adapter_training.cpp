#include "methods/models/prompted/adapter_training.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/json_dom.h"
#include "harness/core/sha256.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/token_loss.h"
#include "methods/models/prompted/memory_params.h"

namespace qfs::prompted {

namespace {

using training::LabelledSequence;
using training::Recipe;

training::Schedule schedule_named(const std::string& name) {
  if (name == "constant") return training::Schedule::constant;
  return name == "linear" ? training::Schedule::linear : training::Schedule::cosine;
}

Recipe recipe_of(const Params& params, uint64_t seed, size_t examples) {
  Recipe recipe;
  recipe.seed = seed;
  recipe.batch_size = params.get<int64_t>("train_batch");
  const int64_t read = params.get<int64_t>("epochs") * static_cast<int64_t>(examples);
  recipe.steps =
      params.find<int64_t>("steps").value_or((read + recipe.batch_size - 1) / recipe.batch_size);
  recipe.order = params.get<std::string>("data_order") == "file" ? training::DataOrder::file
                                                                 : training::DataOrder::shuffled;
  recipe.micro_tokens =
      params.find<int64_t>("micro_tokens").value_or(params.get<int64_t>("train_tokens"));
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

/// What an example's summary is made into: at most `most` tokens, with those that end it if they
/// are not cut away.
std::vector<int32_t> summary_ids(const Prompts& prompts, const std::string& text,
                                 bool behind_prompt, int64_t most) {
  const tokenizers::VocabularyTokenizer& tokenizer = *prompts.backbone->tokenizer;
  tokenizers::TextFrame frame;
  if (!behind_prompt) frame = tokenizer.frame();
  if (frame.after.empty()) {
    const std::vector<int32_t>& ends = prompts.backbone->generation.end_ids;
    const auto own = tokenizer.end_of_sequence_id();
    if (own && std::ranges::count(ends, *own) > 0) {
      frame.after = {*own};
    } else if (!ends.empty()) {
      frame.after = {ends.front()};
    }
  }
  std::vector<int32_t> ids = std::move(frame.before);
  const std::vector<int32_t> words =
      behind_prompt ? tokenizer.ids_behind(text) : tokenizers::ids_of(tokenizer.encode(text));
  ids.insert(ids.end(), words.begin(), words.end());
  ids.insert(ids.end(), frame.after.begin(), frame.after.end());
  ids.resize(std::min(ids.size(), static_cast<size_t>(most)));
  return ids;
}

Result<LabelledSequence> labelled(const Example& example, const Prompts& prompts,
                                  const Params& params) {
  if (example.references.empty() || example.references.front().empty()) {
    return data_error("the training example '" + example.key + "' has no reference summary");
  }
  const nn::SequenceShape& shape = prompts.backbone->network->shape();
  const int64_t most = params.get<int64_t>("train_tokens");
  std::string text = example.references.front();
  // A plain prompt is gone on with; a turn of a conversation begins anew.
  if (!shape.encoder_decoder() && !params.get<bool>("chat")) text.insert(0, " ");
  const std::vector<int32_t> summary =
      summary_ids(prompts, text, !shape.encoder_decoder(), params.get<int64_t>("label_tokens"));
  auto prompt = prompts.maker.prepare_within(example, static_cast<int64_t>(summary.size()), most);
  if (!prompt.ok()) return prompt.error();
  LabelledSequence sequence{std::move(prompt->input), {}};
  std::vector<int32_t>& begun =
      shape.encoder_decoder() ? sequence.input.decoder_ids : sequence.input.ids;
  if (shape.encoder_decoder()) begun = shape.decoder_start;
  sequence.labels.assign(begun.size() - 1, nn::kNoLabel);
  sequence.labels.insert(sequence.labels.end(), summary.begin(), summary.end());
  begun.insert(begun.end(), summary.begin(), summary.end() - 1);
  return sequence;
}

Result<std::vector<LabelledSequence>> labelled(const std::vector<NumberedExample>& examples,
                                               const Prompts& prompts, const Params& params) {
  std::vector<LabelledSequence> sequences;
  for (const NumberedExample& numbered : examples) {
    auto sequence = labelled(numbered.example, prompts, params);
    if (!sequence.ok()) return sequence.error();
    sequences.push_back(*std::move(sequence));
  }
  return sequences;
}

/// Tells what is trained of the curve, too.
class WatchedProgress final : public TrainingProgress {
 public:
  WatchedProgress(TrainedAdapter& adapter, TrainingProgress& progress)
      : adapter_(adapter), progress_(progress) {}

  Status point(const TrainingPoint& point) override {
    adapter_.told(point);
    return progress_.point(point);
  }

 private:
  TrainedAdapter& adapter_;
  TrainingProgress& progress_;
};

class AdapterTraining final : public TrainingSession {
 public:
  AdapterTraining(SessionRequest request, const MethodSpec& spec, Prompts prompts,
                  std::shared_ptr<const nn::Decoder> decoder, MakeAdapter make)
      : request_(std::move(request)),
        spec_(spec),
        prompts_(std::move(prompts)),
        decoder_(std::move(decoder)),
        make_(make) {}

  Result<TrainingOutcome> fit(const FitRequest& request, const TrainingData& data,
                              TrainingProgress& progress) override {
    const auto text = recipe_text(spec_, request_.params);
    if (!text.ok()) return text.error();
    auto made = make_({request_, prompts_, decoder_});
    if (!made.ok()) return made.error();
    const std::shared_ptr<TrainedAdapter> adapter = *std::move(made);
    training::TrainedTensors trained(adapter->tensors());
    adapter->replace(trained.tensors());
    auto task = task_of(data, adapter);
    if (!task.ok()) return task.error();
    const Recipe recipe = recipe_of(request_.params, request_.seed, data.train.size());
    const std::string identity =
        sha256_hex(*text + "\n" + std::to_string(request_.seed) + "\n" + request_.backbone->digest +
                   "\n" + request.training_cell + "\n" + std::to_string(recipe.steps));
    WatchedProgress watched(*adapter, progress);
    const auto model =
        training::train(recipe, *task, {request.folder, identity, request.steps}, trained, watched);
    if (!model.ok()) return model.error();
    TrainingOutcome outcome{{}, model->cost};
    if (!model->finished) return outcome;
    return nn::guarded("keeping what was trained", [&]() -> Result<TrainingOutcome> {
      trained.values().copy_(model->best);
      const bool rounded = request_.params.get<std::string>("save_dtype") == "bfloat16";
      const auto file = adapter->keep(request.folder,
                                      {{"qfs.method", std::string(spec_.name())},
                                       {"qfs.backbone", request_.backbone->digest},
                                       {"qfs.training_cell", request.training_cell},
                                       {"qfs.recipe", *text}},
                                      rounded ? at::kBFloat16 : at::kFloat);
      if (!file.ok()) return file.error();
      outcome.files.push_back(*file);
      return outcome;
    });
  }

 private:
  Result<training::TrainingTask> task_of(const TrainingData& data,
                                         const std::shared_ptr<TrainedAdapter>& adapter) const {
    auto train = labelled(data.train, prompts_, request_.params);
    if (!train.ok()) return train.error();
    auto development = labelled(data.development, prompts_, request_.params);
    if (!development.ok()) return development.error();
    const nn::Network& network = *prompts_.backbone->network;
    training::SequenceTraining training{
        .decoder = decoder_,
        .work = network.work(network.element_bytes(request_.runtime)),
        .train = *std::move(train),
        .development = *std::move(development),
        .adapters = [adapter](std::span<const training::GraphRow> rows) {
          return adapter->adapters(rows);
        }};
    if (request_.params.find<bool>("recompute").value_or(false)) {
      training.recompute = nn::Recompute::layers;
    }
    if (has_memory(request_.params)) {
      const auto memory = adapter->memory();
      if (!memory.ok()) return memory.error();
      training.work.segment = nn::work_of(**memory, decoder_->shape());
      training.memory = [adapter] { return adapter->memory(); };
      training.segment_means = request_.params.find<std::string>("segment_loss") == "sum";
    }
    training::TrainingTask task = training::sequence_task(std::move(training));
    task.observed = [adapter] { return adapter->observed(); };
    return task;
  }

  SessionRequest request_;
  const MethodSpec& spec_;
  Prompts prompts_;
  std::shared_ptr<const nn::Decoder> decoder_;
  MakeAdapter make_;
};

}  // namespace

Result<std::unique_ptr<TrainingSession>> open_adapter_training(const SessionRequest& request,
                                                               ResourceCache& cache,
                                                               const MethodSpec& spec,
                                                               MakeAdapter make) {
  auto prompts = open_prompts(request, cache);
  if (!prompts.ok()) return prompts.error();
  RuntimeOptions runtime = request.runtime;
  runtime.dtype = request.params.get<std::string>("train_dtype");
  const architectures::Backbone& backbone = *prompts->backbone;
  auto decoder = backbone.network->decoder(runtime, backbone.digest, cache);
  if (!decoder.ok()) return decoder.error();
  return std::unique_ptr<TrainingSession>(std::make_unique<AdapterTraining>(
      request, spec, *std::move(prompts), *std::move(decoder), make));
}

Status check_backbone(const std::map<std::string, std::string>& metadata,
                      const SessionRequest& request, const std::string& path) {
  const auto made_for = metadata.find("qfs.backbone");
  if (made_for == metadata.end() || made_for->second == request.backbone->digest) return {};
  return data_error("the adapter is of the backbone with the digest " + made_for->second + "; '" +
                        request.backbone->name + "' is " + request.backbone->digest,
                    path);
}

}  // namespace qfs::prompted
