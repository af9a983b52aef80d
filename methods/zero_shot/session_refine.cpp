#include <array>
#include <memory>
#include <utility>

#include "methods/models/prompting/prompt_template.h"
#include "methods/zero_shot/session.h"
#include "methods/zero_shot/session_chunks.h"

namespace qfs::zero_shot {

namespace {

class RefineSession final : public ChunkedSession {
 public:
  RefineSession(const SessionRequest& request, PromptedModel model)
      : ChunkedSession(request, "refine", std::move(model)) {}

 private:
  Result<Prediction> summarize(const Example& example, ChunkedCalls& calls) override {
    auto document = read_chunks(example, model(), params());
    if (!document.ok()) return document.error();
    const int64_t new_tokens = params().get<int64_t>("max_new_tokens");
    std::string summary;
    for (const std::string& chunk : document->chunks) {
      const bool first = &chunk == &document->chunks.front();
      auto prompt = first ? model().prompts.maker.prepare_part(example, chunk, new_tokens)
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
    const std::array<prompting::PlaceholderValue, 3> values = {
        {{"summary", summary},
         {"document", chunk},
         {"query", prompting::query_or_request(example.query)}}};
    return model().prompts.maker.prepare_text(
        example, prompting::fill_template(params().get<std::string>("refine_prompt"), values),
        new_tokens);
  }
};

Result<std::unique_ptr<MethodSession>> open_refine(const SessionRequest& request,
                                                   ResourceCache& cache) {
  auto model = prompted::open_prompted_model(request, cache);
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
