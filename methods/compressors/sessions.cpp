#include "methods/compressors/sessions.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "harness/core/clock.h"
#include "harness/core/generation_work.h"
#include "harness/core/rng.h"
#include "methods/compressors/params.h"
#include "methods/compressors/session_files.h"
#include "methods/compressors/session_lingua.h"
#include "methods/compressors/session_train.h"
#include "methods/compressors/specs.h"
#include "methods/models/prompted/prompted_model.h"

namespace qfs::compressors {

namespace {

using prompted::PreparedPrompt;

/// What became of a document, for the stored row.
nlohmann::json facts_of(const PromptParts& parts, const Plan& plan, std::span<const Piece> memory) {
  nlohmann::json segments = nlohmann::json::array();
  int64_t compressed = 0;
  int64_t rows = 0;
  for (size_t i = 0; i < plan.segments.size(); ++i) {
    const Segment& segment = plan.segments[i];
    const int64_t count = memory[i].size();
    segments.push_back({segment.content.first, segment.content.count, count});
    compressed += segment.content.count;
    if (segment.read) rows += count;
  }
  nlohmann::json facts = {{"content_tokens", parts.content.size()},
                          {"kept_tokens", plan.kept.count},
                          {"compressed_tokens", compressed},
                          {"memory_tokens", rows},
                          {"segments", std::move(segments)}};
  if (rows > 0) {
    facts["achieved_ratio"] = static_cast<double>(compressed) / static_cast<double>(rows);
  }
  return facts;
}

DecoderSizes sizes_of(const nn::SequenceShape& shape) {
  const nn::LayerWidths& widths = shape.widths;
  return {.layers = widths.layers,
          .width = widths.hidden,
          .heads = widths.heads,
          .inner = widths.intermediate,
          .vocabulary = shape.vocabulary,
          .key_heads = widths.kv_heads,
          .head_width = widths.head_dim};
}

/// Operations of compressing and of writing `new_tokens`, the end token among them.
double operations(std::span<const ReadPass> passes, int64_t prompt, int64_t new_tokens,
                  double beside_token, const DecoderSizes& sizes, WorkCount count) {
  double sum = generation_multiply_adds(prompt, new_tokens, sizes, count) +
               beside_token * static_cast<double>(prompt + new_tokens - 1);
  for (const ReadPass& pass : passes) {
    sum += body_multiply_adds(pass.tokens, sizes, count) + head_multiply_adds(pass.headed, sizes) +
           pass.beside;
  }
  return 2 * sum;
}

class CompressingSession final : public MethodSession {
 public:
  CompressingSession(uint64_t seed, std::string_view draws, prompted::PromptedModel model,
                     std::unique_ptr<Compressor> compressor,
                     std::shared_ptr<const nn::Adapters> adapters)
      : seed_(seed),
        draws_(draws),
        model_(std::move(model)),
        compressor_(std::move(compressor)),
        adapters_(std::move(adapters)) {}

  Status run(std::span<const NumberedExample> unit, PredictionSink& sink) override {
    const int64_t begin_ns = monotonic_ns();
    std::vector<PreparedPrompt> prompts;
    std::vector<PromptParts> parts;
    std::vector<Plan> plans;
    for (const NumberedExample& numbered : unit) {
      auto prompt = model_.prompts.maker.prepare_any_length(numbered.example);
      if (!prompt.ok()) return prompt.error();
      auto cut = parts_of(prompt->input);
      if (!cut.ok()) return of_example(numbered, cut.error());
      auto plan = compressor_->plan(*cut);
      if (!plan.ok()) return of_example(numbered, plan.error());
      prompts.push_back(*std::move(prompt));
      parts.push_back(*std::move(cut));
      plans.push_back(*std::move(plan));
    }
    std::vector<CompressionTask> tasks;
    for (size_t i = 0; i < unit.size(); ++i) tasks.push_back({parts[i], plans[i]});
    const auto memory = compressor_->compress(tasks);
    if (!memory.ok()) return of_example(unit.front(), memory.error());
    Phase compress{"compress", 0, 0};
    std::vector<nn::SequenceInput> inputs;
    std::vector<uint64_t> seeds;
    for (size_t i = 0; i < unit.size(); ++i) {
      const auto pieces = read_pieces(*compressor_, tasks[i], (*memory)[i].memory);
      prompts[i].input = input_of(pieces, compressor_->placeholder());
      prompts[i].input.adapters = adapters_;
      const auto length = static_cast<int64_t>(prompts[i].input.ids.size());
      const int64_t context = model_.generator.shape().context;
      if (length + model_.options.max_new_tokens > context) {
        return of_example(unit[i],
                          invalid_argument(std::to_string(length) +
                                           " positions with memory and the output exceed the "
                                           "backbone's window of " +
                                           std::to_string(context) +
                                           "; raise 'ratio' or lower "
                                           "input_tokens or max_new_tokens"));
      }
      inputs.push_back(prompts[i].input);
      seeds.push_back(Rng::derived(seed_, draws_, static_cast<uint64_t>(unit[i].ordinal)).next());
      for (const Segment& segment : plans[i].segments) compress.tokens += segment.content.count;
    }
    compress.ns = monotonic_ns() - begin_ns;
    const auto result = model_.generator.generate(inputs, model_.options, seeds);
    if (!result.ok()) return result.error();
    for (size_t i = 0; i < unit.size(); ++i) {
      Prediction prediction = prompted::prediction_of(prompts[i], result->rows[i]);
      nlohmann::json facts = facts_of(parts[i], plans[i], (*memory)[i].memory);
      const bool ended = prediction.finish == FinishReason::stop;
      for (const auto& [name, count] :
           {std::pair("flops_eager", WorkCount::eager), {"flops_lean", WorkCount::lean}}) {
        facts[name] = operations(
            (*memory)[i].passes, prediction.tokens_in, prediction.tokens_out + (ended ? 1 : 0),
            compressor_->generator_beside(), sizes_of(model_.generator.shape()), count);
      }
      prediction.extra = {nlohmann::json{{"compression", std::move(facts)}}.dump()};
      sink.emit(unit[i].ordinal, std::move(prediction));
    }
    sink.phase(compress);
    decoding::GenerationTimes times = result->times;
    times.first_token_ns += compress.ns;
    prompted::tell_times(times, static_cast<int64_t>(unit.size()), sink);
    return {};
  }

  Result<std::optional<MachineLimits>> measure_limits() override {
    return prompted::measure_limits(model_.generator, model_.runtime);
  }

 private:
  static Error of_example(const NumberedExample& numbered, Error error) {
    error.message = "example '" + numbered.example.key + "': " + error.message;
    return error;
  }

  uint64_t seed_;
  std::string draws_;
  prompted::PromptedModel model_;
  std::unique_ptr<Compressor> compressor_;
  std::shared_ptr<const nn::Adapters> adapters_;
};

/// `draws`: names the streams of random numbers.
Result<std::unique_ptr<MethodSession>> open_compressing(uint64_t seed, std::string_view draws,
                                                        prompted::PromptedModel model,
                                                        std::unique_ptr<Compressor> compressor) {
  const nn::AdapterSet set = compressor->generator_adapters();
  std::shared_ptr<const nn::Adapters> adapters;
  if (!set.linears.empty()) {
    auto bound = model.generator.bind(set);
    if (!bound.ok()) return bound.error();
    adapters = *std::move(bound);
  }
  return std::unique_ptr<MethodSession>(std::make_unique<CompressingSession>(
      seed, draws, std::move(model), std::move(compressor), std::move(adapters)));
}

/// The model that writes, and the same weights over tensors, by which a compressor reads.
struct Models {
  prompted::PromptedModel writer;
  std::shared_ptr<const nn::Decoder> reader;
};

Result<Models> open_models(const SessionRequest& request, ResourceCache& cache) {
  auto writer = prompted::open_prompted_model(request, cache);
  if (!writer.ok()) return writer.error();
  const architectures::Backbone& backbone = *writer->prompts.backbone;
  auto reader = backbone.network->decoder(request.runtime, backbone.digest, cache);
  if (!reader.ok()) return reader.error();
  return Models{*std::move(writer), *std::move(reader)};
}

Result<std::string> trained_path(const SessionRequest& request) {
  const auto file = request.artifacts.find(prompted::kAdapter);
  if (file == request.artifacts.end()) return invalid_argument("no trained file was given");
  return file->second.path;
}

Result<std::unique_ptr<MethodSession>> open_selfcp(const SessionRequest& request,
                                                   ResourceCache& cache) {
  const auto path = trained_path(request);
  if (!path.ok()) return path.error();
  auto models = open_models(request, cache);
  if (!models.ok()) return models.error();
  auto file = read_selfcp(*path, models->reader->hidden());
  if (!file.ok()) return file.error();
  const Status same = prompted::check_backbone(file->metadata, request, *path);
  if (!same.ok()) return same.error();
  SelfcpReading reading;
  reading.rules = split_rules(request.params);
  reading.window_counts_all = request.params.get<std::string>("window_counts") == "total";
  reading.segments_at_once = request.params.get<int64_t>("segment_batch");
  return open_compressing(request.seed, "selfcp", std::move(models->writer),
                          std::make_unique<Selfcp>(file->form, std::move(file->tensors),
                                                   std::move(models->reader), reading));
}

/// AutoCompressor's or ICAE's.
template <class Made>
Result<std::unique_ptr<MethodSession>> open_lora(const SessionRequest& request,
                                                 ResourceCache& cache, const char* method,
                                                 const LoraForm& form) {
  const auto path = trained_path(request);
  if (!path.ok()) return path.error();
  auto models = open_models(request, cache);
  if (!models.ok()) return models.error();
  auto tensors = read_lora_tensors(*path, method, form, *models->reader);
  if (!tensors.ok()) return tensors.error();
  const Status same = prompted::check_backbone(tensors->metadata, request, *path);
  if (!same.ok()) return same.error();
  const SplitRules rules = split_rules(request.params);
  LoraReading reading{.window = rules.window};
  reading.begin = begin_id(models->writer.prompts);
  reading.memory = memory_tokens(rules.window, rules.ratio, Rounding::ceil);
  const int64_t rows = tensors->tensors.at(form.table).size(0) - form.mode_rows;
  if (reading.memory > rows) {
    return invalid_argument("a ratio of " + std::to_string(request.params.get<double>("ratio")) +
                            " for windows of " + std::to_string(rules.window) + " tokens takes " +
                            std::to_string(reading.memory) + " rows; '" + *path + "' has " +
                            std::to_string(rows));
  }
  return open_compressing(
      request.seed, method, std::move(models->writer),
      std::make_unique<Made>(form, *std::move(tensors), std::move(models->reader), reading));
}

Result<std::unique_ptr<MethodSession>> open_autocompressor(const SessionRequest& request,
                                                           ResourceCache& cache) {
  return open_lora<Autocompressor>(request, cache, "autocompressor", autocompressor_form());
}

Result<std::unique_ptr<MethodSession>> open_icae(const SessionRequest& request,
                                                 ResourceCache& cache) {
  return open_lora<Icae>(request, cache, "icae", icae_form());
}

Result<std::unique_ptr<MethodSession>> open_llmlingua(const SessionRequest& request,
                                                      ResourceCache& cache) {
  auto models = open_models(request, cache);
  if (!models.ok()) return models.error();
  const LinguaReading reading = {.rules = split_rules(request.params),
                                 .released = request.params.get<std::string>("mode") == "official",
                                 .window = request.params.get<int64_t>("choice_window"),
                                 .begin = begin_id(models->writer.prompts)};
  return open_compressing(request.seed, "llmlingua", std::move(models->writer),
                          std::make_unique<Lingua>(std::move(models->reader), reading));
}

template <class Spec,
          Result<std::unique_ptr<prompted::TrainedAdapter>> (*kMake)(const prompted::AdapterPlace&),
          Result<std::unique_ptr<MethodSession>> (*kOpen)(const SessionRequest&, ResourceCache&)>
Result<std::unique_ptr<TrainingSession>> train(const SessionRequest& request,
                                               ResourceCache& cache) {
  static const Spec spec;
  return prompted::open_adapter_training(request, cache, spec, kMake, kOpen);
}

}  // namespace

std::vector<SessionFactory> session_factories() {
  return {{"selfcp", &open_selfcp, &train<SelfcpSpec, &make_selfcp, &open_selfcp>},
          {"autocompressor", &open_autocompressor,
           &train<AutocompressorSpec, &make_autocompressor, &open_autocompressor>},
          {"icae", &open_icae, &train<IcaeSpec, &make_icae, &open_icae>},
          {"llmlingua", &open_llmlingua}};
}

}  // namespace qfs::compressors
