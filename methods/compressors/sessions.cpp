#include "methods/compressors/sessions.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "harness/core/json_dom.h"
#include "harness/core/sha256.h"
#include "methods/compressors/demonstrations.h"
#include "methods/compressors/params.h"
#include "methods/compressors/session_bank_training.h"
#include "methods/compressors/session_demonstrations.h"
#include "methods/compressors/session_files.h"
#include "methods/compressors/session_labels.h"
#include "methods/compressors/session_lingua.h"
#include "methods/compressors/session_ratio_sweep.h"
#include "methods/compressors/session_train.h"
#include "methods/compressors/session_writing.h"
#include "methods/compressors/specs.h"
#include "methods/models/prompted/prompted_model.h"

namespace qfs::compressors {

namespace {

/// A backbone over tensors, by which a compressor reads; and as it writes, unless it chooses
/// labels.
struct Models {
  prompted::Prompts prompts;
  std::shared_ptr<const nn::Decoder> reader;
  std::optional<prompted::PromptedModel> writer = {};
};

Result<Models> open_models(const SessionRequest& request, ResourceCache& cache) {
  std::optional<prompted::PromptedModel> writer;
  if (!request.params.has("labels")) {
    auto opened = prompted::open_prompted_model(request, cache);
    if (!opened.ok()) return opened.error();
    writer = *std::move(opened);
  }
  auto prompts = writer ? Result(writer->prompts) : prompted::open_prompts(request, cache);
  if (!prompts.ok()) return prompts.error();
  const architectures::Backbone& backbone = *prompts->backbone;
  auto reader = backbone.network->reader(request.runtime, backbone.digest, cache);
  if (!reader.ok()) return reader.error();
  return Models{*std::move(prompts), *std::move(reader), std::move(writer)};
}

/// Document tokens in a prompt, at most; none where the cell counts other tokens than its backbone.
std::optional<int64_t> most_tokens(const SessionRequest& request,
                                   const prompted::Prompts& prompts) {
  const auto most = request.params.find<int64_t>("input_tokens");
  const auto* counter = dynamic_cast<const tokenizers::VocabularyTokenizer*>(prompts.counter.get());
  if (!most || counter == nullptr) return std::nullopt;
  return same_vocabulary(*counter, *prompts.backbone->tokenizer) ? most : std::nullopt;
}

/// What answers, with demonstrations where there are some.
Result<std::unique_ptr<MethodSession>> open_answers(
    const SessionRequest& request, const char* method, Models models,
    std::shared_ptr<const Compressor> compressor,
    std::shared_ptr<const Demonstrations> demonstrations) {
  if (!models.writer) {
    return open_labels({.prompts = std::move(models.prompts),
                        .reader = std::move(models.reader),
                        .compressor = std::move(compressor),
                        .demonstrations = std::move(demonstrations),
                        .text = demonstration_template(request.params),
                        .labels = labels_of(request.params),
                        .full = request.params.find<std::string>("label_scope") == "full"});
  }
  return open_writing({.seed = request.seed,
                       .draws = method,
                       .most_tokens = most_tokens(request, models.prompts),
                       .model = *std::move(models.writer),
                       .compressor = std::move(compressor),
                       .demonstrations = std::move(demonstrations)});
}

/// The same of a method whose bank holds tokens.
Result<std::unique_ptr<MethodSession>> open_answers(const SessionRequest& request,
                                                    const char* method, Models models,
                                                    std::shared_ptr<const Compressor> compressor) {
  std::shared_ptr<const Demonstrations> demonstrations;
  if (shots_of(request.params) > 0) {
    auto opened = open_token_demonstrations(request, compressor);
    if (!opened.ok()) return opened.error();
    demonstrations = *std::move(opened);
  }
  return open_answers(request, method, std::move(models), std::move(compressor),
                      std::move(demonstrations));
}

Result<std::string> trained_path(const SessionRequest& request) {
  const auto file = request.artifacts.find(prompted::kAdapter);
  if (file == request.artifacts.end()) return invalid_argument("no trained file was given");
  return file->second.path;
}

/// What compresses, by the trained file at `path`.
Result<std::shared_ptr<const Selfcp>> selfcp_of(const SessionRequest& request,
                                                const std::string& path,
                                                std::shared_ptr<const nn::Decoder> reader) {
  auto file = read_selfcp(path, reader->hidden());
  if (!file.ok()) return file.error();
  const Status same = prompted::check_backbone(file->metadata, request, path);
  if (!same.ok()) return same.error();
  SelfcpReading reading;
  reading.rules = split_rules(request.params);
  reading.window_counts_all = request.params.get<std::string>("window_counts") == "total";
  reading.segments_at_once = request.params.get<int64_t>("segment_batch");
  return std::make_shared<const Selfcp>(file->form, std::move(file->tensors), std::move(reader),
                                        reading);
}

/// The same at several ratios from one pass, where the cell asks for it.
Result<std::shared_ptr<const Compressor>> swept(const SessionRequest& request,
                                                std::shared_ptr<const Selfcp> compressor,
                                                ResourceCache& cache) {
  const auto ratio = request.params.find<double>("pass_ratio");
  if (!ratio) return std::shared_ptr<const Compressor>(std::move(compressor));
  const auto adapter = sha256_file(request.artifacts.at(prompted::kAdapter).path);
  if (!adapter.ok()) return adapter.error();
  const RuntimeOptions& runtime = request.runtime;
  const std::string key = "selfcp passes:" + *adapter + ":" + request.backbone->digest + ":" +
                          runtime.device + ":" + runtime.dtype + ":" + shortest_decimal(*ratio) +
                          ":" + request.params.get<std::string>("n_mem_rounding");
  // What the cache holds does not change but for the map that it points to.
  using Shared = std::shared_ptr<KeptPasses>;
  const auto passes = cache.get<Shared>(key, []() -> Result<std::shared_ptr<const Shared>> {
    return std::make_shared<const Shared>(std::make_shared<KeptPasses>());
  });
  if (!passes.ok()) return passes.error();
  return std::shared_ptr<const Compressor>(std::make_shared<const SweptSelfcp>(
      std::move(compressor), *ratio, split_rules(request.params).rounding, **passes));
}

Result<std::unique_ptr<MethodSession>> open_selfcp(const SessionRequest& request,
                                                   ResourceCache& cache) {
  const auto path = trained_path(request);
  if (!path.ok()) return path.error();
  auto models = open_models(request, cache);
  if (!models.ok()) return models.error();
  auto compressor = selfcp_of(request, *path, models->reader);
  if (!compressor.ok()) return compressor.error();
  std::shared_ptr<const Demonstrations> demonstrations;
  if (shots_of(request.params) > 0) {
    auto opened = open_memory_demonstrations(request, models->prompts, *compressor);
    if (!opened.ok()) return opened.error();
    demonstrations = *std::move(opened);
  }
  auto sweeping = swept(request, *std::move(compressor), cache);
  if (!sweeping.ok()) return sweeping.error();
  return open_answers(request, "selfcp", *std::move(models), *std::move(sweeping),
                      std::move(demonstrations));
}

bool lies_in(const std::string& file, const std::string& folder) {
  std::error_code error;
  return std::filesystem::equivalent(std::filesystem::path(file).parent_path(), folder, error) &&
         !error;
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
  if (tensors->merged && !lies_in(*path, request.backbone->path)) {
    return invalid_argument("'" + *path +
                            "' has its adapters in the weights of a whole model, which is then the "
                            "backbone: name the folder that it lies in as 'backbone'");
  }
  const SplitRules rules = split_rules(request.params);
  LoraReading reading{.window = rules.window};
  reading.begin = begin_id(*models->prompts.backbone);
  reading.memory = memory_tokens(rules.window, rules.ratio, Rounding::ceil);
  if (request.params.find<std::string>(kSegmentRows) == "length") reading.ratio = rules.ratio;
  const int64_t rows = tensors->tensors.at(form.table).size(0) - form.mode_rows;
  if (reading.memory > rows && compresses(request.params)) {
    return invalid_argument("a ratio of " + shortest_decimal(request.params.get<double>("ratio")) +
                            " for windows of " + std::to_string(rules.window) + " tokens takes " +
                            std::to_string(reading.memory) + " rows; '" + *path + "' has " +
                            std::to_string(rows));
  }
  auto compressor =
      std::make_shared<const Made>(form, *std::move(tensors), models->reader, reading);
  return open_answers(request, method, *std::move(models), std::move(compressor));
}

Result<std::unique_ptr<MethodSession>> open_autocompressor(const SessionRequest& request,
                                                           ResourceCache& cache) {
  return open_lora<Autocompressor>(request, cache, "autocompressor", autocompressor_form());
}

Result<std::unique_ptr<MethodSession>> open_icae(const SessionRequest& request,
                                                 ResourceCache& cache) {
  return open_lora<Icae>(request, cache, "icae", icae_form());
}

/// The model whose losses choose tokens, beside the one that writes.
struct SmallModel {
  std::shared_ptr<const architectures::Backbone> backbone;
  std::shared_ptr<const nn::Decoder> decoder;
};

Result<SmallModel> small_model(const SessionRequest& request, ResourceCache& cache) {
  const auto given = request.backbones.find(kSmallLm);
  if (given == request.backbones.end()) {
    return invalid_argument("no model was given as 'small_lm'");
  }
  auto backbone = architectures::open_backbone(given->second, cache);
  if (!backbone.ok()) return backbone.error();
  if ((*backbone)->network->shape().encoder_decoder()) {
    return unavailable(
        "'small_lm' foresees tokens by those before them; this is an encoder-decoder",
        given->second.name);
  }
  auto decoder = (*backbone)->network->reader(request.runtime, (*backbone)->digest, cache);
  if (!decoder.ok()) return decoder.error();
  return SmallModel{*std::move(backbone), *std::move(decoder)};
}

Result<std::unique_ptr<MethodSession>> open_llmlingua(const SessionRequest& request,
                                                      ResourceCache& cache) {
  auto models = open_models(request, cache);
  if (!models.ok()) return models.error();
  SmallModel chooser{models->prompts.backbone, models->reader};
  std::optional<LinguaVocabularies> vocabularies;
  if (request.params.find<std::string>("losses_of") == kSmallLm) {
    const auto own = chooser.backbone->tokenizer;
    auto small = small_model(request, cache);
    if (!small.ok()) return small.error();
    chooser = *std::move(small);
    if (!same_vocabulary(*own, *chooser.backbone->tokenizer)) {
      vocabularies = LinguaVocabularies{own, chooser.backbone->tokenizer};
    }
  }
  const LinguaReading reading = {.rules = split_rules(request.params),
                                 .released = request.params.get<std::string>("mode") == "official",
                                 .window = request.params.get<int64_t>("choice_window"),
                                 .begin = begin_id(*chooser.backbone)};
  auto compressor =
      std::make_shared<const Lingua>(std::move(chooser.decoder), reading, std::move(vocabularies));
  return open_answers(request, "llmlingua", *std::move(models), std::move(compressor));
}

Result<std::unique_ptr<MethodSession>> open_few_shot(const SessionRequest& request,
                                                     ResourceCache& cache) {
  auto models = open_models(request, cache);
  if (!models.ok()) return models.error();
  return open_answers(request, kFewShot, *std::move(models),
                      std::make_shared<const NoCompressor>());
}

template <class Spec,
          Result<std::unique_ptr<prompted::TrainedAdapter>> (*kMake)(const prompted::AdapterPlace&),
          Result<std::unique_ptr<MethodSession>> (*kOpen)(const SessionRequest&, ResourceCache&)>
Result<std::unique_ptr<TrainingSession>> train(const SessionRequest& request,
                                               ResourceCache& cache) {
  static const Spec spec;
  auto learning = prompted::open_adapter_training(learning_of(request), cache, spec, kMake, kOpen);
  if (!learning.ok()) return learning.error();
  return with_token_bank(request, cache, spec, *std::move(learning));
}

/// A bank alone.
template <class Spec>
Result<std::unique_ptr<TrainingSession>> keep_bank(const SessionRequest& request,
                                                   ResourceCache& cache) {
  static const Spec spec;
  return with_token_bank(request, cache, spec, nullptr);
}

}  // namespace

std::vector<SessionFactory> session_factories() {
  return {{"selfcp", &open_selfcp,
           [](const SessionRequest& request, ResourceCache& cache) {
             return open_selfcp_training(request, cache, &open_selfcp);
           }},
          {"autocompressor", &open_autocompressor,
           &train<AutocompressorSpec, &make_autocompressor, &open_autocompressor>},
          {"icae", &open_icae, &train<IcaeSpec, &make_icae, &open_icae>},
          {"llmlingua", &open_llmlingua, &keep_bank<LlmlinguaSpec>},
          {kFewShot, &open_few_shot, &keep_bank<FewShotSpec>}};
}

}  // namespace qfs::compressors
