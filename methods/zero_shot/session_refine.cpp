#include <array>
#include <memory>
#include <utility>

#include "harness/core/rng.h"
#include "methods/tokenizers/prompt_template.h"
#include "methods/zero_shot/session.h"
#include "methods/zero_shot/session_chunks.h"

namespace qfs::zero_shot {

namespace {

class RefineSession final : public MethodSession {
 public:
  RefineSession(const SessionRequest& request, PromptedModel model)
      : params_(request.params), seed_(request.seed), model_(std::move(model)) {}

  Status run(std::span<const NumberedExample> unit, PredictionSink& sink) override {
    UnitTimes times;
    for (const NumberedExample& numbered : unit) {
      const auto stream =
          Rng::derived(seed_, "refine", static_cast<uint64_t>(numbered.ordinal)).next();
      ChunkedCalls calls(model_, times, stream);
      Result<Prediction> prediction = summarize(numbered.example, calls);
      if (!prediction.ok()) return prediction.error();
      sink.emit(numbered.ordinal, *std::move(prediction));
    }
    times.tell(sink);
    return {};
  }

 private:
  Result<Prediction> summarize(const Example& example, ChunkedCalls& calls) {
    auto document = read_chunks(example, model_, params_);
    if (!document.ok()) return document.error();
    const int64_t new_tokens = params_.get<int64_t>("max_new_tokens");
    std::string summary;
    for (const std::string& chunk : document->chunks) {
      const bool first = &chunk == &document->chunks.front();
      auto prompt = first ? model_.maker.prepare_part(example, chunk, new_tokens)
                          : refine_prompt(example, summary, chunk, new_tokens);
      if (!prompt.ok()) return prompt.error();
      auto text = calls.output(*prompt, new_tokens);
      if (!text.ok()) return text.error();
      summary = *std::move(text);
    }
    const size_t chunks = document->chunks.size();
    return calls.finish(std::move(summary), document->ledger, chunks, static_cast<int64_t>(chunks));
  }

  Result<PreparedPrompt> refine_prompt(const Example& example, const std::string& summary,
                                       const std::string& chunk, int64_t new_tokens) const {
    const std::array<tokenizers::PlaceholderValue, 3> values = {
        {{"summary", summary},
         {"document", chunk},
         {"query", tokenizers::query_or_request(example.query)}}};
    return model_.maker.prepare_text(
        example, tokenizers::fill_template(params_.get<std::string>("refine_prompt"), values),
        new_tokens);
  }

  Params params_;
  uint64_t seed_;
  PromptedModel model_;
};

Result<std::unique_ptr<MethodSession>> open_refine(const SessionRequest& request,
                                                   ResourceCache& cache) {
  auto model = open_prompted_model(request, cache);
  if (!model.ok()) return model.error();
  if (model->generator.shape().encoder_decoder()) {
    return invalid_argument(
        "refine asks a model to rewrite a summary, which an encoder-decoder was not trained to "
        "read; "
        "use chunk_merge or a decoder-only backbone");
  }
  return std::unique_ptr<MethodSession>(
      std::make_unique<RefineSession>(request, *std::move(model)));
}

}  // namespace

SessionFactory refine_factory() { return {"refine", &open_refine}; }

}  // namespace qfs::zero_shot
