#include "harness/apps/bertscore_session.h"

#include <string>
#include <utility>

#include "methods/models/architectures/bert/text_embedder.h"
#include "metrics/bertscore/bert_scorer.h"

namespace qfs::apps {
namespace {

class EmbedderTexts final : public metrics::TextEncoder {
 public:
  explicit EmbedderTexts(std::unique_ptr<architectures::TextEmbedder> embedder)
      : embedder_(std::move(embedder)) {}

  Result<metrics::TokenVectors> tokens(std::string_view text) override {
    Result<architectures::TextTokens> tokens = embedder_->tokens(text);
    if (!tokens) return tokens.error();
    metrics::TokenVectors result;
    result.ids = std::move(tokens->ids);
    result.special = std::move(tokens->special);
    result.truncated = tokens->truncated;
    result.width = embedder_->width();
    return result;
  }

  Status encode(std::span<metrics::TokenVectors* const> texts) override {
    std::vector<const std::vector<int32_t>*> ids;
    std::vector<float*> outs;
    for (metrics::TokenVectors* text : texts) {
      text->vectors.resize(text->tokens() * static_cast<size_t>(text->width));
      ids.push_back(&text->ids);
      outs.push_back(text->vectors.data());
    }
    return embedder_->embed(ids, outs);
  }

 private:
  std::unique_ptr<architectures::TextEmbedder> embedder_;
};

class BertScoreSession final : public MetricSession {
 public:
  explicit BertScoreSession(metrics::BertScorer scorer) : scorer_(std::move(scorer)) {}

  std::vector<std::string> columns() const override {
    return {"bertscore.p", "bertscore.r", "bertscore.f"};
  }

  void begin_corpus() override { scorer_.begin_corpus(); }

  Result<AddedTexts> add_texts(std::span<const CorpusText> texts) override {
    AddedTexts added;
    for (size_t i = 0; i < texts.size(); ++i) {
      const Result<const metrics::TokenVectors*> tokens = scorer_.add(texts[i]);
      if (!tokens) return tokens.error();
      if ((*tokens)->truncated) added.truncated.push_back(static_cast<int64_t>(i));
      if ((*tokens)->empty()) added.empty.push_back(static_cast<int64_t>(i));
    }
    return added;
  }

  Result<std::vector<Statistics>> score(std::span<const TextPairs> items) override {
    return scorer_.score(items);
  }

 private:
  metrics::BertScorer scorer_;
};

Result<std::unique_ptr<MetricSession>> open(const SessionRequest& request, ResourceCache& cache) {
  const Params& params = request.params;
  for (const char* name : {"layer", "idf", "prefix_space", "batch"}) {
    if (!params.has(name)) return invalid_argument(std::string("bertscore needs '") + name + "'");
  }
  if (!request.backbone) return invalid_argument("bertscore needs a 'backbone'");
  if (request.runtime.device != "cpu" || request.runtime.dtype != "float32") {
    return unavailable("bertscore runs in float32 on the CPU");
  }
  architectures::EmbedderOptions model;
  model.layer = params.get<int64_t>("layer");
  model.prefix_space = params.get<bool>("prefix_space");
  model.threads = request.runtime.threads;
  auto embedder = architectures::TextEmbedder::open(*request.backbone, model, cache);
  if (!embedder) return embedder.error();
  metrics::BertScoreOptions options;
  options.idf = params.get<bool>("idf");
  options.batch = params.get<int64_t>("batch");
  if (params.has("baseline_f")) {
    options.baseline = {params.get<double>("baseline_p"), params.get<double>("baseline_r"),
                        params.get<double>("baseline_f")};
  }
  return std::unique_ptr<MetricSession>(std::make_unique<BertScoreSession>(
      metrics::BertScorer(options, std::make_unique<EmbedderTexts>(*std::move(embedder)))));
}

}  // namespace

MetricSessionFactory bertscore_factory() { return {"bertscore", open}; }

}  // namespace qfs::apps
