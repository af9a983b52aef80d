#include "methods/models/prompted/adapter_training.h"

#include <algorithm>
#include <utility>

#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/token_loss.h"
#include "methods/models/peft/infini.h"
#include "methods/models/prompted/memory_params.h"
#include "methods/models/prompted/prompt_text.h"
#include "methods/models/prompted/prompted_params.h"
#include "methods/models/prompted/trained_spec.h"

namespace qfs::prompted {

namespace {

using training::LabelledSequence;

/// Whether an encoder-decoder's decoder learns from the summary's first token on, without its start
/// token.
bool begins_with_summary(const Params& params) {
  return params.find<std::string>(kDecoderStart) == "bos";
}

Status check_start(const Params& params, const architectures::Backbone& backbone) {
  for (const std::string_view name : encoder_decoder_names()) {
    if (!params.has(name) || backbone.network->shape().encoder_decoder()) continue;
    return invalid_argument(
        std::string("'").append(name).append("' is for encoder-decoder backbones, which this one "
                                             "is not"));
  }
  if (!begins_with_summary(params) || !backbone.tokenizer->frame().before.empty()) return {};
  return unavailable(
      "'decoder_start' is 'bos'; the backbone's tokenizer puts nothing in front of a text");
}

/// Where a summary stands, which says what its first token is like.
struct SummaryPlace {
  bool behind_prompt;  ///< or at a decoder's beginning
  bool piece;          ///< tokenized by itself all the same
};

/// What an example's summary is made into: at most `most` tokens, with those that end it if they
/// are not cut away.
std::vector<int32_t> summary_ids(const Prompts& prompts, const std::string& text,
                                 SummaryPlace place, int64_t most) {
  const tokenizers::VocabularyTokenizer& tokenizer = *prompts.backbone->tokenizer;
  tokenizers::TextFrame frame;
  if (!place.behind_prompt) frame = tokenizer.frame();
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
  const std::vector<int32_t> words = place.behind_prompt && !place.piece
                                         ? tokenizer.ids_behind(text)
                                         : tokenizers::ids_of(tokenizer.encode(text));
  ids.insert(ids.end(), words.begin(), words.end());
  ids.insert(ids.end(), frame.after.begin(), frame.after.end());
  ids.resize(std::min(ids.size(), static_cast<size_t>(most)));
  return ids;
}

/// Puts tokens behind a sequence that nothing is learned of: to the end of its last segment, or to
/// as many tokens as a sequence has at most.
void fill_up(LabelledSequence& sequence, int64_t segment, int64_t most) {
  const auto tokens = static_cast<int64_t>(sequence.input.ids.size());
  const int64_t whole = (tokens + segment - 1) / segment * segment;
  const auto filled = static_cast<size_t>(std::max(tokens, std::min(whole, most)));
  sequence.input.ids.resize(filled, 0);
  sequence.labels.resize(filled, nn::kNoLabel);
}

Result<LabelledSequence> labelled(const Example& example, const Prompts& prompts,
                                  const Params& params) {
  if (example.references.empty() || example.references.front().empty()) {
    return data_error("the training example '" + example.key + "' has no reference summary");
  }
  const nn::SequenceShape& shape = prompts.backbone->network->shape();
  const int64_t most = params.get<int64_t>("train_tokens");
  std::string text = example.references.front();
  // A plain prompt is gone on with; a turn of a conversation begins anew, and so does a piece.
  const bool piece = params.find<bool>(kPromptPieces).value_or(false);
  const bool behind_prompt = !shape.encoder_decoder();
  if (behind_prompt && !piece && !params.get<bool>("chat")) text.insert(text.begin(), ' ');
  const std::vector<int32_t> summary =
      summary_ids(prompts, text, {behind_prompt, piece}, params.get<int64_t>("label_tokens"));
  auto prompt = prompts.maker.prepare_within(example, static_cast<int64_t>(summary.size()), most);
  if (!prompt.ok()) return prompt.error();
  const int64_t segment = params.find<int64_t>("train_segment").value_or(kTrainSegment);
  if (Status asked = check_first_segment(params, prompt->input.query.end(), segment); !asked.ok()) {
    return invalid_argument("training example '" + example.key + "': " + asked.error().message +
                            " ('train_segment')");
  }
  LabelledSequence sequence{std::move(prompt->input), {}};
  std::vector<int32_t>& begun =
      shape.encoder_decoder() ? sequence.input.decoder_ids : sequence.input.ids;
  if (shape.encoder_decoder()) begun = shape.decoder_start;
  sequence.labels.assign(begun.size() - 1, nn::kNoLabel);
  sequence.labels.insert(sequence.labels.end(), summary.begin(), summary.end());
  begun.insert(begun.end(), summary.begin(), summary.end() - 1);
  if (begins_with_summary(params)) {
    // Its own first token, which would be the first label, stands in front alone.
    begun.erase(begun.begin());
    sequence.labels.erase(sequence.labels.begin());
    if (sequence.labels.empty()) {
      return invalid_argument("the summary of example '" + example.key +
                              "' has nothing to learn behind its first token; raise "
                              "'label_tokens'");
    }
  }
  if (memory_form(params).released) fill_up(sequence, segment, std::min(most, shape.context));
  return sequence;
}

Result<std::vector<LabelledSequence>> labelled(const std::vector<NumberedExample>& examples,
                                               const Prompts& prompts, const Params& params,
                                               const TrainedAdapter& adapter) {
  std::vector<LabelledSequence> sequences;
  for (const NumberedExample& numbered : examples) {
    auto sequence = labelled(numbered.example, prompts, params);
    if (sequence.ok()) {
      sequence = adapter.learned_from(numbered.example, *std::move(sequence));
    }
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
  /// Of `reading` the sources may be empty.
  AdapterTraining(SessionRequest request, const MethodSpec& spec, ExampleReading reading,
                  std::shared_ptr<const nn::Decoder> decoder, MakeAdapter make, OpenSession open,
                  ResourceCache& cache)
      : request_(std::move(request)),
        spec_(spec),
        reading_(std::move(reading)),
        decoder_(std::move(decoder)),
        make_(std::move(make)),
        open_(std::move(open)),
        cache_(cache) {}

  Result<TrainingOutcome> fit(const FitRequest& request, const TrainingData& data,
                              TrainingProgress& progress) override {
    auto made = make_({request_, reading_.prompts, decoder_});
    if (!made.ok()) return made.error();
    const std::shared_ptr<TrainedAdapter> adapter = *std::move(made);
    WatchedProgress watched(*adapter, progress);
    const training::NamedTensors initial = adapter->tensors();
    training::Recipe recipe = recipe_of(request_.params, request_.seed, data.train.size());
    if (const auto rate = request_.params.find<double>("memory_rate")) {
      for (const auto& [name, tensor] : initial) {
        if (peft::is_memory_tensor(name)) recipe.rate_factors[name] = *rate;
      }
    }
    return fit_tensors(
        request_, spec_, request,
        {.recipe = std::move(recipe),
         .initial = initial,
         .replace = [&](const training::NamedTensors& leaves) { adapter->replace(leaves); },
         .make_task = [&] { return task_of(data, adapter); },
         .keep = [&](const std::string& folder, const std::map<std::string, std::string>& metadata,
                     at::ScalarType type) { return adapter->keep(folder, metadata, type); },
         .outputs = {open_, cache_, data.development}},
        watched);
  }

 private:
  Result<training::TrainingTask> task_of(const TrainingData& data,
                                         const std::shared_ptr<TrainedAdapter>& adapter) const {
    auto train = labelled(data.train, reading_.prompts, request_.params, *adapter);
    if (!train.ok()) return train.error();
    auto development = labelled(data.development, reading_.prompts, request_.params, *adapter);
    if (!development.ok()) return development.error();
    const nn::Network& network = *reading_.prompts.backbone->network;
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
    training.label_smoothing = request_.params.find<double>("label_smoothing").value_or(0);
    const auto dropout = dropout_rates(request_.params, decoder_->shape().dropout);
    if (!dropout.ok()) return dropout.error();
    training.dropout = *dropout;
    training.seed = request_.seed;
    training.sources = reading_.sources;
    training.reading_flops = reading_.flops;
    if (adapter->decoder() != nullptr) {
      training.trained = [adapter] { return adapter->decoder(); };
      training.matrices_trained = adapter->trains_matrices();
    }
    if (adapter->reads()) {
      training.segment_means = true;
      training.read = [adapter](std::span<const training::GraphRow> rows) {
        return adapter->read(rows);
      };
    }
    if (has_memory(request_.params)) {
      const auto memory = adapter->memory();
      if (!memory.ok()) return memory.error();
      training.work.segment = nn::work_of(**memory, decoder_->shape());
      training.memory = [adapter] { return adapter->memory(); };
      training.later_adapters = [adapter](const training::GraphRow& row, int64_t segments) {
        return adapter->later_adapters(row, segments);
      };
      training.segment_means = memory_form(request_.params).segment_sums;
    } else if (request_.params.find<std::string>("segment_loss") == "sum") {
      training.segment_means = true;
    }
    training::TrainingTask task = training::sequence_task(std::move(training));
    task.observed = [adapter] { return adapter->observed(); };
    return task;
  }

  SessionRequest request_;
  const MethodSpec& spec_;
  ExampleReading reading_;
  std::shared_ptr<const nn::Decoder> decoder_;
  MakeAdapter make_;
  OpenSession open_;
  ResourceCache& cache_;
};

}  // namespace

Result<std::unique_ptr<TrainingSession>> open_adapter_training(
    const SessionRequest& request, ResourceCache& cache, const MethodSpec& spec, MakeAdapter make,
    OpenSession open, std::optional<ExampleReading> reading) {
  if (!reading) {
    auto prompts = open_prompts(request, cache);
    if (!prompts.ok()) return prompts.error();
    reading = {*std::move(prompts), {}, {}};
  }
  const architectures::Backbone& backbone = *reading->prompts.backbone;
  if (Status status = check_start(request.params, backbone); !status.ok()) {
    return status.error();
  }
  RuntimeOptions runtime = request.runtime;
  runtime.dtype = request.params.get<std::string>("train_dtype");
  auto decoder = backbone.network->decoder(runtime, backbone.digest, cache);
  if (!decoder.ok()) return decoder.error();
  return std::unique_ptr<TrainingSession>(
      std::make_unique<AdapterTraining>(request, spec, *std::move(reading), *std::move(decoder),
                                        std::move(make), std::move(open), cache));
}

Status check_backbone(const std::map<std::string, std::string>& metadata,
                      const SessionRequest& request, const std::string& path) {
  const auto made_for = metadata.find("qfs.backbone");
  if (made_for == metadata.end() || made_for->second == request.backbone->digest) return {};
  return data_error("it was trained for the backbone with the digest " + made_for->second + "; '" +
                        request.backbone->name + "' is " + request.backbone->digest,
                    path);
}

}  // namespace qfs::prompted
