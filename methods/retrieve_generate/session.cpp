#include "methods/retrieve_generate/session.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "methods/models/architectures/bert/cpu_encoder.h"
#include "methods/models/architectures/bert/encoder_folder.h"
#include "methods/models/architectures/bert/text_inputs.h"
#include "methods/models/prompted/changed_session.h"
#include "methods/models/prompted/lora_training.h"
#include "methods/models/prompted/prompted_session.h"
#include "methods/models/prompted/weights_training.h"
#include "methods/models/ranking/locator.h"
#include "methods/models/retrieval/bm25.h"
#include "methods/retrieve_generate/retriever.h"
#include "methods/retrieve_generate/spans.h"
#include "methods/retrieve_generate/spec.h"

namespace qfs::retrieve_generate {

namespace {

// DPR: passages ranked by how close their vectors are to the query's, each the first state of a
// BERT without a projection (Karpukhin et al. 2020; closeness as in SQuALITY's baseline: minus the
// Euclidean distance). Texts longer than the encoder reads are cut, as its tokenizer would.

using Vector = std::vector<float>;

/// One encoder: a vector a text.
class TextVectors {
 public:
  TextVectors(architectures::TextInputs inputs,
              std::shared_ptr<const architectures::EncoderWeights> weights, int threads)
      : inputs_(std::move(inputs)),
        encoder_(std::make_unique<architectures::CpuEncoder>(weights, weights->config.layers,
                                                             threads)) {}

  static Result<TextVectors> open(const SessionRequest& request, const char* role,
                                  ResourceCache& cache) {
    const auto model = request.backbones.find(role);
    if (model == request.backbones.end()) {
      return invalid_argument("no " + std::string(role) + " was given");
    }
    auto folder = architectures::open_encoder_folder(model->second, {"bert"}, cache);
    if (!folder.ok()) return folder.error();
    auto inputs = architectures::TextInputs::open(model->second.path,
                                                  folder->weights->config.max_tokens(), false);
    if (!inputs.ok()) return inputs.error();
    return TextVectors(*std::move(inputs), std::move(folder->weights), request.runtime.threads);
  }

  Result<std::vector<Vector>> of(std::span<const std::string> texts) {
    const auto hidden = static_cast<size_t>(encoder_->config().hidden);
    std::vector<std::vector<int32_t>> ids;
    std::vector<Vector> states;
    for (const std::string& text : texts) {
      auto tokens = inputs_.tokens(text);
      if (!tokens.ok()) return tokens.error();
      ids.push_back(std::move(tokens->ids));
      states.emplace_back(ids.back().size() * hidden);
    }
    std::vector<const std::vector<int32_t>*> read;
    std::vector<float*> written;
    for (size_t i = 0; i < texts.size(); ++i) {
      read.push_back(&ids[i]);
      written.push_back(states[i].data());
    }
    if (Status status = encoder_->encode(read, written); !status.ok()) return status.error();
    for (Vector& state : states) state.resize(hidden);  // the first token's
    return states;
  }

 private:
  architectures::TextInputs inputs_;
  std::unique_ptr<architectures::CpuEncoder> encoder_;
};

double squared_distance(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - b[i];
    sum += difference * difference;
  }
  return sum;
}

class Dpr final : public retrieval::Selector {
 public:
  Dpr(TextVectors questions, TextVectors contexts)
      : questions_(std::move(questions)), contexts_(std::move(contexts)) {}

  Status prepare(std::span<const retrieval::Passage> passages, retrieval::Script) override {
    std::vector<std::string> texts;
    for (const retrieval::Passage& passage : passages) {
      texts.push_back(rendered({passage.text, passage.speaker}));
    }
    auto vectors = contexts_.of(texts);
    if (!vectors.ok()) return vectors.error();
    passages_ = *std::move(vectors);
    return {};
  }

  Result<std::vector<size_t>> select(const Example& example) override {
    const auto query = questions_.of({&example.query, 1});
    if (!query.ok()) return query.error();
    std::vector<double> distances;
    for (const Vector& passage : passages_) {
      distances.push_back(squared_distance(query->front(), passage));
    }
    std::vector<size_t> order(passages_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t i) { return distances[i]; });
    return order;
  }

 private:
  TextVectors questions_;
  TextVectors contexts_;
  std::vector<Vector> passages_;
};

Result<std::unique_ptr<retrieval::Selector>> open_dpr(const SessionRequest& request,
                                                      ResourceCache& cache) {
  auto questions = TextVectors::open(request, kQuestionEncoder, cache);
  if (!questions.ok()) return questions.error();
  auto contexts = TextVectors::open(request, kContextEncoder, cache);
  if (!contexts.ok()) return contexts.error();
  return std::unique_ptr<retrieval::Selector>(
      std::make_unique<Dpr>(*std::move(questions), *std::move(contexts)));
}

/// An example with the text that a locator took of it as its document, or as it is where there is
/// no text and the document is to be read.
Result<prompting::ChangedDocument> located(const Spans& spans, bool missing_is_document,
                                           const Example& example) {
  const auto text = spans.of(example);
  prompting::ChangedDocument read{example, {}};
  if (text.ok()) {
    read.example.document = {{*text, ""}};
    read.example.evidence.clear();
  } else if (!missing_is_document || text.error().kind != ErrorKind::not_found) {
    return text.error();
  }
  return read;
}

/// What examples are made into; `room`: tokens of passages where `budget` is left out.
Result<prompted::ChangeDocument> open_change(const SessionRequest& request, ResourceCache& cache,
                                             std::shared_ptr<const tokenizers::Tokenizer> counter,
                                             int64_t room) {
  std::unique_ptr<retrieval::Selector> selector;
  if (reads_spans(request.params)) {
    auto spans = Spans::parse(request.params.get<std::string>("spans"), "spans");
    if (!spans.ok()) return spans.error();
    const bool whole = request.params.find<std::string>("spans_missing") == "document";
    return prompted::ChangeDocument([spans = *std::move(spans), whole](const Example& example) {
      return located(spans, whole, example);
    });
  }
  if (request.params.get<std::string>("retriever") == "dpr") {
    auto dpr = open_dpr(request, cache);
    if (!dpr.ok()) return dpr.error();
    selector = *std::move(dpr);
  } else if (ranks_by_locator(request.params)) {
    auto locator = ranking::Locator::open(request, cache);
    if (!locator.ok()) return locator.error();
    selector = *std::move(locator);
  } else {
    selector = retrieval::make_bm25_selector(request);
  }
  const bool turns = request.params.get<std::string>("unit") == "turn";
  const Reach reach{turns ? retrieval::PassageUnit::turn : retrieval::PassageUnit::sentence,
                    request.params.find<int64_t>("budget").value_or(room)};
  auto retriever = std::make_shared<Retriever>(reach, std::move(counter), std::move(selector));
  return prompted::ChangeDocument([retriever = std::move(retriever)](const Example& example) {
    return retriever->retrieve(example);
  });
}

/// The backbone as it is, with its adapter, or with its trained weights.
Result<std::unique_ptr<MethodSession>> open_inner(const SessionRequest& request,
                                                  ResourceCache& cache) {
  const bool whole = prompted::all_weights(request.params);
  if (prompted::has_adapter(request.params) && !whole) {
    return prompted::open_lora_session(request, cache, "retrieve_generate");
  }
  const auto writing = prompted::as_trained(request);
  if (!writing.ok()) return writing.error();
  auto model = prompted::open_prompted_model(*writing, cache);
  if (!model.ok()) return model.error();
  return std::unique_ptr<MethodSession>(std::make_unique<prompted::PromptedSession>(
      request.seed, "retrieve_generate", *std::move(model)));
}

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache) {
  const auto prompts = prompted::open_prompts(request, cache);
  if (!prompts.ok()) return prompts.error();
  auto change = open_change(request, cache, prompts->counter,
                            request.params.find<int64_t>("local_context").value_or(1));
  if (!change.ok()) return change.error();
  auto inner = open_inner(request, cache);
  if (!inner.ok()) return inner.error();
  return prompted::changed_session(*std::move(change), prompts->counter, *std::move(inner));
}

/// Refuses spans of other examples, in whose place documents would be learned.
Status check_spans(const Params& params, const TrainingData& data) {
  if (params.find<std::string>("spans_missing") != "document") return {};
  const auto spans = Spans::parse(params.get<std::string>("spans"), "spans");
  if (!spans.ok()) return spans.error();
  for (const auto* examples : {&data.train, &data.development}) {
    const auto missing = std::ranges::count_if(*examples, [&](const NumberedExample& numbered) {
      return !spans->of(numbered.example).ok();
    });
    if (2 * missing <= std::ssize(*examples)) continue;
    return data_error("'spans' have no line of " + std::to_string(missing) + " of the " +
                      std::to_string(examples->size()) +
                      (examples == &data.train ? " training" : " development") +
                      " examples: a training needs those of its splits, too");
  }
  return {};
}

class RetrieveGenerateTraining final : public TrainingSession {
 public:
  RetrieveGenerateTraining(const Params& params, prompted::ChangeDocument change,
                           std::unique_ptr<TrainingSession> inner)
      : params_(params), change_(std::move(change)), inner_(std::move(inner)) {}

  Result<TrainingOutcome> fit(const FitRequest& request, const TrainingData& data,
                              TrainingProgress& progress) override {
    if (Status found = check_spans(params_, data); !found.ok()) return found.error();
    const auto read = prompted::changed_data(change_, data);
    if (!read.ok()) return read.error();
    return inner_->fit(request, *read, progress);
  }

 private:
  Params params_;
  prompted::ChangeDocument change_;
  std::unique_ptr<TrainingSession> inner_;
};

Result<std::unique_ptr<TrainingSession>> open_training(const SessionRequest& request,
                                                       ResourceCache& cache) {
  static const RetrieveGenerateSpec kSpec;
  const auto prompts = prompted::open_prompts(request, cache);
  if (!prompts.ok()) return prompts.error();
  auto change = open_change(request, cache, prompts->backbone->tokenizer,
                            request.params.get<int64_t>("train_tokens"));
  if (!change.ok()) return change.error();
  auto inner =
      prompted::open_adapter_training(request, cache, kSpec, &prompted::make_trained,
                                      // Documents are those that were retrieved.
                                      [](const SessionRequest& writing, ResourceCache& shared) {
                                        SessionRequest choosing = writing;
                                        choosing.params.set("adapter", std::string("lora"));
                                        return open_inner(choosing, shared);
                                      });
  if (!inner.ok()) return inner.error();
  return std::unique_ptr<TrainingSession>(std::make_unique<RetrieveGenerateTraining>(
      request.params, *std::move(change), *std::move(inner)));
}

}  // namespace

SessionFactory session_factory() { return {"retrieve_generate", &open, &open_training}; }

}  // namespace qfs::retrieve_generate
