#include "methods/egad/session.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "methods/egad/keyword_inputs.h"
#include "methods/egad/spec.h"
#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/prompted/changed_session.h"
#include "methods/models/prompted/lora_training.h"
#include "methods/models/prompted/prompted_session.h"
#include "methods/models/prompted/trained_spec.h"
#include "methods/models/prompted/weights_training.h"

namespace qfs::egad {

namespace {

/// In the metadata of the trained file.
constexpr const char* kDictionary = "qfs.egad.dictionary";

/// The request as its inner session reads it: keywords stand where its source has queries.
SessionRequest inner_of(const SessionRequest& request, bool encoder_decoder) {
  SessionRequest inner = request;
  if (!encoder_decoder || request.params.get<std::string>("keywords") == "highlighted") {
    return inner;
  }
  const bool global = request.params.get<std::string>("attention") == "global";
  const bool apart = request.params.find<std::string>("keyword_separator") == "sep";
  inner.params.set("source", std::string(apart ? "{query}{sep}{document}" : "{query} {document}"));
  inner.params.set(prompted::kSourceAlone, std::string("{document}"));
  if (global) inner.params.set("global_attention", std::string("first_and_query"));
  return inner;
}

Result<bool> is_encoder_decoder(const SessionRequest& request, ResourceCache& cache) {
  const auto backbone = prompted::open_backbone(request, cache);
  if (!backbone.ok()) return backbone.error();
  return (*backbone)->network->shape().encoder_decoder();
}

Result<std::string> dictionary_of(const std::string& path) {
  const auto file = checkpoints::open_safetensors(path);
  if (!file.ok()) return file.error();
  const auto text = (*file)->metadata().find(kDictionary);
  if (text == (*file)->metadata().end()) return data_error("no dictionary of 'egad'", path);
  return text->second;
}

/// Keeps the dictionary with what was trained, and gives examples their marks.
class EgadAdapter final : public prompted::TrainedAdapter {
 public:
  EgadAdapter(std::unique_ptr<TrainedAdapter> inner, std::string text, Dictionary dictionary,
              KeywordInputs inputs)
      : inner_(std::move(inner)),
        text_(std::move(text)),
        dictionary_(std::move(dictionary)),
        inputs_(std::move(inputs)) {}

  training::NamedTensors tensors() const override { return inner_->tensors(); }
  void replace(const training::NamedTensors& leaves) override { inner_->replace(leaves); }
  Result<training::RowAdapters> adapters(std::span<const training::GraphRow> rows) override {
    return inner_->adapters(rows);
  }
  std::shared_ptr<const nn::Decoder> decoder() override { return inner_->decoder(); }
  Result<training::LabelledSequence> learned_from(
      const Example& example, training::LabelledSequence sequence) const override {
    if (inputs_.highlights()) {
      sequence.input.global_positions = inputs_.marked(example, dictionary_, sequence.input.ids);
    }
    return sequence;
  }
  Result<TrainedFile> keep(const std::string& folder,
                           const std::map<std::string, std::string>& metadata,
                           at::ScalarType type) const override {
    std::map<std::string, std::string> more = metadata;
    more[kDictionary] = text_;
    return inner_->keep(folder, more, type);
  }

 private:
  std::unique_ptr<TrainedAdapter> inner_;
  std::string text_;
  Dictionary dictionary_;
  KeywordInputs inputs_;
};

/// What writes, with the marks of `inputs` where it highlights; keywords stay whole, and the
/// document is cut to what an encoder reads.
Result<std::unique_ptr<MethodSession>> open_inner(const SessionRequest& request,
                                                  ResourceCache& cache, KeywordInputs inputs,
                                                  Dictionary dictionary, bool encoder_decoder) {
  const bool whole = prompted::all_weights(request.params);
  const auto writing = prompted::as_trained(request);
  if (!writing.ok()) return writing.error();
  auto model = prompted::open_prompted_model(*writing, cache);
  if (!model.ok()) return model.error();
  std::shared_ptr<const nn::Adapters> adapters;
  if (prompted::has_adapter(request.params) && !whole) {
    auto given = prompted::open_lora_adapters(request, model->generator);
    if (!given.ok()) return given.error();
    adapters = *std::move(given);
  }
  return std::unique_ptr<MethodSession>(std::make_unique<prompted::PromptedSession>(
      request.seed, "egad", *std::move(model),
      [adapters, inputs = std::move(inputs), dictionary = std::move(dictionary)](
          const Example& example, const nn::SequenceInput& input, prompted::PromptedModel&) {
        prompted::RowAddition addition{adapters};
        if (inputs.highlights()) {
          const Status readable = KeywordInputs::check_document(example);
          if (!readable.ok()) return Result<prompted::RowAddition>(readable.error());
          addition.global_positions = inputs.marked(example, dictionary, input.ids);
          addition.observed = {
              {"global_tokens", static_cast<double>(addition.global_positions->size())}};
        }
        return Result<prompted::RowAddition>(std::move(addition));
      },
      encoder_decoder));
}

class EgadTraining final : public TrainingSession {
 public:
  EgadTraining(const SessionRequest& request, ResourceCache& cache, KeywordInputs inputs,
               bool encoder_decoder)
      : request_(request),
        cache_(cache),
        inputs_(std::move(inputs)),
        encoder_decoder_(encoder_decoder) {}

  Result<TrainingOutcome> fit(const FitRequest& request, const TrainingData& data,
                              TrainingProgress& progress) override {
    static const EgadSpec kSpec;
    auto text = request_.params.find<std::string>("dictionary");
    if (!text) {
      auto words = counted(data);
      if (!words.ok()) return words.error();
      text = *std::move(words);
    }
    const auto dictionary = Dictionary::parse(*text, "dictionary");
    if (!dictionary.ok()) return dictionary.error();
    const auto change = [&](const Example& example) {
      if (!inputs_.highlights()) return inputs_.prefixed(example, *dictionary);
      const Status readable = KeywordInputs::check_document(example);
      if (!readable.ok()) return Result<prompting::ChangedDocument>(readable.error());
      return Result<prompting::ChangedDocument>(prompting::ChangedDocument{example, {}});
    };
    const auto prefixed = prompted::changed_data(change, data);
    if (!prefixed.ok()) return prefixed.error();
    auto session = prompted::open_adapter_training(
        inner_of(request_, encoder_decoder_), cache_, kSpec,
        [&](const prompted::AdapterPlace& place)
            -> Result<std::unique_ptr<prompted::TrainedAdapter>> {
          auto inner = prompted::make_trained(place);
          if (!inner.ok()) return inner.error();
          return std::unique_ptr<prompted::TrainedAdapter>(
              std::make_unique<EgadAdapter>(*std::move(inner), *text, *dictionary, inputs_));
        },
        // Documents have their keywords.
        [&](const SessionRequest& writing, ResourceCache& shared) {
          return open_inner(writing, shared, inputs_, *dictionary, encoder_decoder_);
        });
    if (!session.ok()) return session.error();
    return (*session)->fit(request, *prefixed, progress);
  }

 private:
  /// The words of the training documents, each document once, or those of them that 'spelling' has.
  Result<std::string> counted(const TrainingData& data) const {
    const auto list = request_.params.find<std::string>("spelling");
    const auto known = list ? Dictionary::parse(*list, "spelling") : Dictionary();
    if (!known.ok()) return known.error();
    std::map<std::string, int64_t> counts;
    std::set<std::string> seen;
    for (const NumberedExample& one : data.train) {
      const std::string document = inputs_.counted_text(one.example);
      if (!seen.insert(document).second) continue;
      for (const Word& word : words_of(document)) {
        if (!list || known->frequency(word.lower)) ++counts[word.lower];
      }
    }
    if (list && counts.empty()) {
      return data_error("'spelling' has no word of the training documents");
    }
    std::string text;
    for (const auto& [word, count] : counts) text += word + " " + std::to_string(count) + "\n";
    return text;
  }

  SessionRequest request_;
  ResourceCache& cache_;
  KeywordInputs inputs_;
  bool encoder_decoder_;
};

/// Tokens of keywords and document: of an encoder's source what it reads beside the tokenizer's own
/// tokens, else `most`, or any number.
int64_t room_of(const architectures::Backbone& backbone, std::optional<int64_t> most) {
  constexpr int64_t kAnyRoom = int64_t{1} << 40;
  const nn::SequenceShape& shape = backbone.network->shape();
  if (!shape.encoder_decoder()) return most.value_or(kAnyRoom);
  const tokenizers::TextFrame frame = backbone.tokenizer->frame();
  return std::min(most.value_or(kAnyRoom), shape.source_context) -
         static_cast<int64_t>(frame.before.size() + frame.after.size());
}

/// The dictionary that a cell writes with: its trained file's, or without a file its own.
Result<Dictionary> dictionary_of(const SessionRequest& request) {
  const auto given = request.params.find<std::string>("dictionary");
  if (!prompted::has_adapter(request.params)) {
    return given ? Dictionary::parse(*given, "dictionary") : Dictionary();
  }
  const auto file = request.artifacts.find(prompted::kAdapter);
  if (file == request.artifacts.end()) return invalid_argument("no adapter was given");
  const auto text = dictionary_of(file->second.path);
  if (!text.ok()) return text.error();
  if (given && *given != *text) {
    return data_error("the file was trained with another dictionary than the cell's",
                      file->second.path);
  }
  return Dictionary::parse(*text, file->second.path + "#" + kDictionary);
}

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache) {
  auto dictionary = dictionary_of(request);
  if (!dictionary.ok()) return dictionary.error();
  const auto encoder_decoder = is_encoder_decoder(request, cache);
  if (!encoder_decoder.ok()) return encoder_decoder.error();
  const SessionRequest inner = inner_of(request, *encoder_decoder);
  const auto prompts = prompted::open_prompts(inner, cache);
  if (!prompts.ok()) return prompts.error();
  // The query of a source is outside of the document's budget.
  const auto budget =
      *encoder_decoder ? std::nullopt : request.params.find<int64_t>("local_context");
  const KeywordInputs inputs(request.params,
                             {*encoder_decoder, prompts->backbone->tokenizer, prompts->counter,
                              room_of(*prompts->backbone, budget)});
  auto session = open_inner(inner, cache, inputs, *dictionary, *encoder_decoder);
  if (!session.ok() || inputs.highlights()) return session;
  return prompted::changed_session(
      [inputs, dictionary = *std::move(dictionary)](const Example& example) {
        return inputs.prefixed(example, dictionary);
      },
      prompts->counter, *std::move(session));
}

}  // namespace

Result<std::unique_ptr<TrainingSession>> open_training(const SessionRequest& request,
                                                       ResourceCache& cache) {
  const auto encoder_decoder = is_encoder_decoder(request, cache);
  if (!encoder_decoder.ok()) return encoder_decoder.error();
  const auto prompts = prompted::open_prompts(inner_of(request, *encoder_decoder), cache);
  if (!prompts.ok()) return prompts.error();
  const auto& tokenizer = prompts->backbone->tokenizer;
  const int64_t room = room_of(*prompts->backbone, request.params.get<int64_t>("train_tokens"));
  KeywordInputs inputs(request.params, {*encoder_decoder, tokenizer, tokenizer, room});
  return std::unique_ptr<TrainingSession>(
      std::make_unique<EgadTraining>(request, cache, std::move(inputs), *encoder_decoder));
}

SessionFactory session_factory() { return {"egad", &open, &open_training}; }

}  // namespace qfs::egad
