#include "methods/egad/session.h"

#include <utility>

#include "methods/egad/dictionary.h"
#include "methods/egad/keywords.h"
#include "methods/egad/spec.h"
#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/prompted/changed_session.h"
#include "methods/models/prompted/lora_training.h"
#include "methods/models/prompted/prompted_model.h"
#include "methods/models/prompted/trained_spec.h"

namespace qfs::egad {

namespace {

/// In the metadata of the trained file.
constexpr const char* kDictionary = "qfs.egad.dictionary";

/// Puts keywords in front of examples.
class Prefixes {
 public:
  Prefixes(const Params& params, bool encoder_decoder,
           std::shared_ptr<const tokenizers::Tokenizer> counter, int64_t room)
      : kind_(params.get<std::string>("keywords")),
        rule_{params.get<int64_t>("k"), score_from(params.get<std::string>("keyword_score")),
              params.get<int64_t>("keyword_min"),
              params.get<std::string>("keyword_form") == "surface"},
        set_(static_cast<uint64_t>(params.get<int64_t>("keyword_set"))),
        encoder_decoder_(encoder_decoder),
        counter_(std::move(counter)),
        room_(room) {}

  Result<prompting::ChangedDocument> with_keywords(const Example& example,
                                                   const Dictionary& dictionary) const {
    if (kind_ == "summary" && example.references.empty()) {
      return data_error("example '" + example.key + "' has no reference summary for keywords");
    }
    std::string joined;
    for (const std::string& word : keywords(example, dictionary)) {
      joined += (joined.empty() ? "" : " ") + word;
    }
    if (counter_->count(joined) >= room_) {
      return invalid_argument("the keywords of example '" + example.key + "' have " +
                              std::to_string(counter_->count(joined)) +
                              " tokens and leave no room for a document in " +
                              std::to_string(room_) + "; lower 'k'");
    }
    prompting::ChangedDocument prefixed{example, {}};
    for (size_t i = 0; i < example.document.size(); ++i) {
      const auto bytes = static_cast<int64_t>(rendered(example.document[i]).size());
      prefixed.origins.emplace_back(ByteSpan{static_cast<int64_t>(i), 0, bytes});
    }
    if (encoder_decoder_) {
      // Stands where the source layout has the query, all of whose tokens are global.
      prefixed.example.query = joined + (example.query.empty() ? "" : " " + example.query);
    } else if (!joined.empty()) {
      std::vector<Segment>& document = prefixed.example.document;
      document.insert(document.begin(), {joined, ""});
      prefixed.origins.insert(prefixed.origins.begin(), std::nullopt);
    }
    return prefixed;
  }

 private:
  std::vector<std::string> keywords(const Example& example, const Dictionary& dictionary) const {
    if (kind_ == "gibberish") return gibberish(rule_.k, set_, example.document_id);
    if (kind_ == "summary") return keywords_of(example.references.front(), dictionary, rule_);
    const std::string text = rendered_document(example);
    if (kind_ == "random") return drawn_words(text, rule_.k, set_, example.document_id);
    return keywords_of(text, dictionary, rule_);
  }

  std::string kind_;
  KeywordRule rule_;
  uint64_t set_;
  bool encoder_decoder_;
  std::shared_ptr<const tokenizers::Tokenizer> counter_;
  int64_t room_;  ///< tokens of keywords and document
};

/// The request as its inner session reads it: keywords stand where its source has them.
SessionRequest inner_of(const SessionRequest& request, bool encoder_decoder) {
  SessionRequest inner = request;
  if (!encoder_decoder) return inner;
  const bool global = request.params.get<std::string>("attention") == "global";
  inner.params.set("source", std::string("{query} {document}"));
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

/// Keeps the dictionary with what was trained.
class KeptWithDictionary final : public prompted::TrainedAdapter {
 public:
  KeptWithDictionary(std::unique_ptr<TrainedAdapter> inner, std::string dictionary)
      : inner_(std::move(inner)), dictionary_(std::move(dictionary)) {}

  training::NamedTensors tensors() const override { return inner_->tensors(); }
  void replace(const training::NamedTensors& leaves) override { inner_->replace(leaves); }
  Result<training::RowAdapters> adapters(std::span<const training::GraphRow> rows) override {
    return inner_->adapters(rows);
  }
  Result<TrainedFile> keep(const std::string& folder,
                           const std::map<std::string, std::string>& metadata,
                           at::ScalarType type) const override {
    std::map<std::string, std::string> more = metadata;
    more[kDictionary] = dictionary_;
    return inner_->keep(folder, more, type);
  }

 private:
  std::unique_ptr<TrainedAdapter> inner_;
  std::string dictionary_;
};

class EgadTraining final : public TrainingSession {
 public:
  EgadTraining(const SessionRequest& request, ResourceCache& cache, Prefixes prefixes,
               bool encoder_decoder)
      : request_(request),
        cache_(cache),
        prefixes_(std::move(prefixes)),
        encoder_decoder_(encoder_decoder) {}

  Result<TrainingOutcome> fit(const FitRequest& request, const TrainingData& data,
                              TrainingProgress& progress) override {
    static const EgadSpec kSpec;
    auto text = request_.params.find<std::string>("dictionary");
    if (!text) text = counted(data);
    const auto dictionary = Dictionary::parse(*text, "dictionary");
    if (!dictionary.ok()) return dictionary.error();
    const auto prefixed = prompted::changed_data(
        [&](const Example& example) { return prefixes_.with_keywords(example, *dictionary); },
        data);
    if (!prefixed.ok()) return prefixed.error();
    auto session = prompted::open_adapter_training(
        inner_of(request_, encoder_decoder_), cache_, kSpec,
        [&](const prompted::AdapterPlace& place)
            -> Result<std::unique_ptr<prompted::TrainedAdapter>> {
          auto lora = prompted::make_lora(place);
          if (!lora.ok()) return lora.error();
          return std::unique_ptr<prompted::TrainedAdapter>(
              std::make_unique<KeptWithDictionary>(*std::move(lora), *text));
        },
        // Documents have their keywords.
        [](const SessionRequest& writing, ResourceCache& shared) {
          return prompted::open_lora_session(writing, shared, "egad");
        });
    if (!session.ok()) return session.error();
    return (*session)->fit(request, *prefixed, progress);
  }

 private:
  /// The words of the training documents, each document once.
  static std::string counted(const TrainingData& data) {
    std::map<std::string, std::string> documents;
    for (const NumberedExample& one : data.train) {
      documents[one.example.document_id + "\n" + one.example.key] = rendered_document(one.example);
    }
    std::map<std::string, int64_t> counts;
    std::map<std::string, bool> seen;
    for (const auto& [key, document] : documents) {
      if (!seen.emplace(document, true).second) continue;
      for (const Word& word : words_of(document)) ++counts[word.lower];
    }
    std::string text;
    for (const auto& [word, count] : counts) text += word + " " + std::to_string(count) + "\n";
    return text;
  }

  SessionRequest request_;
  ResourceCache& cache_;
  Prefixes prefixes_;
  bool encoder_decoder_;
};

constexpr int64_t kAnyRoom = int64_t{1} << 40;

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache) {
  const auto file = request.artifacts.find(prompted::kAdapter);
  if (file == request.artifacts.end()) return invalid_argument("no adapter was given");
  const auto encoder_decoder = is_encoder_decoder(request, cache);
  if (!encoder_decoder.ok()) return encoder_decoder.error();
  const auto text = dictionary_of(file->second.path);
  if (!text.ok()) return text.error();
  auto dictionary = Dictionary::parse(*text, file->second.path + "#" + kDictionary);
  if (!dictionary.ok()) return dictionary.error();
  const SessionRequest inner = inner_of(request, *encoder_decoder);
  auto session = prompted::open_lora_session(inner, cache, "egad");
  if (!session.ok()) return session.error();
  const auto prompts = prompted::open_prompts(inner, cache);
  if (!prompts.ok()) return prompts.error();
  // The query of a source is outside of the document's budget.
  const int64_t room = *encoder_decoder
                           ? kAnyRoom
                           : request.params.find<int64_t>("local_context").value_or(kAnyRoom);
  const Prefixes prefixes(request.params, *encoder_decoder, prompts->counter, room);
  return prompted::changed_session(
      [prefixes, dictionary = *std::move(dictionary)](const Example& example) {
        return prefixes.with_keywords(example, dictionary);
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
  const int64_t room = request.params.get<int64_t>("train_tokens");
  Prefixes prefixes(request.params, *encoder_decoder, prompts->backbone->tokenizer, room);
  return std::unique_ptr<TrainingSession>(
      std::make_unique<EgadTraining>(request, cache, std::move(prefixes), *encoder_decoder));
}

SessionFactory session_factory() { return {"egad", &open, &open_training}; }

}  // namespace qfs::egad
