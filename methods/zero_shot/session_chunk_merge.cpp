#include <array>
#include <memory>
#include <utility>

#include "methods/models/prompting/prompt_template.h"
#include "methods/zero_shot/chunks.h"
#include "methods/zero_shot/session.h"
#include "methods/zero_shot/session_chunks.h"

namespace qfs::zero_shot {

namespace {

std::string joined_parts(std::span<const std::string> parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "\n\n") + part;
  return text;
}

class ChunkMergeSession final : public ChunkedSession {
 public:
  ChunkMergeSession(const SessionRequest& request, PromptedModel model)
      : ChunkedSession(request, "chunk_merge", std::move(model)) {}

 private:
  Result<Prediction> summarize(const Example& example, ChunkedCalls& calls) override {
    auto document = read_chunks(example, model(), params());
    if (!document.ok()) return document.error();
    const size_t chunks = document->chunks.size();
    auto texts = summarize_all(example, document->chunks, calls, chunks == 1);
    if (!texts.ok()) return texts.error();
    int64_t rounds = 1;
    while (texts->size() > 1) {
      texts = merge(example, *texts, calls);
      if (!texts.ok()) return texts.error();
      ++rounds;
    }
    return calls.finish(std::move(texts->front()), document->ledger, chunks, rounds);
  }

  /// Outputs of the last round may be as long as the method's output, others as a chunk's summary.
  int64_t new_tokens(bool last) const {
    return params().get<int64_t>(last ? "max_new_tokens" : "chunk_new_tokens");
  }

  Result<std::vector<std::string>> summarize_all(const Example& example,
                                                 const std::vector<std::string>& chunks,
                                                 ChunkedCalls& calls, bool last) {
    std::vector<PreparedPrompt> prompts;
    for (const std::string& chunk : chunks) {
      auto prompt = model().prompts.maker.prepare_part(example, chunk, new_tokens(last));
      if (!prompt.ok()) return prompt.error();
      prompts.push_back(*std::move(prompt));
    }
    return calls.outputs(prompts, new_tokens(last), params().get<int64_t>("chunk_batch"));
  }

  /// One round: groups of summaries that fit a chunk's budget become one each.
  Result<std::vector<std::string>> merge(const Example& example,
                                         const std::vector<std::string>& summaries,
                                         ChunkedCalls& calls) {
    std::vector<int64_t> counts;
    for (const std::string& summary : summaries)
      counts.push_back(model().prompts.counter->count(summary));
    const std::vector<size_t> ends = group_ends(counts, params().get<int64_t>("local_context"));
    const bool last = ends.size() == 1;
    std::vector<PreparedPrompt> prompts;
    std::vector<std::string> alone;  // a last summary without a neighbour goes on as it is
    size_t begin = 0;
    for (size_t end : ends) {
      const std::span<const std::string> group(summaries.data() + begin, end - begin);
      begin = end;
      if (group.size() == 1) {
        alone.push_back(group.front());
        continue;
      }
      auto prompt = merge_prompt(example, joined_parts(group), new_tokens(last));
      if (!prompt.ok()) return prompt.error();
      prompts.push_back(*std::move(prompt));
    }
    auto texts = calls.outputs(prompts, new_tokens(last), params().get<int64_t>("chunk_batch"));
    if (texts.ok()) texts->insert(texts->end(), alone.begin(), alone.end());
    return texts;
  }

  /// An encoder-decoder knows one kind of source: the summaries stand for a document.
  Result<PreparedPrompt> merge_prompt(const Example& example, const std::string& summaries,
                                      int64_t new_tokens) const {
    if (model().generator.shape().encoder_decoder()) {
      return model().prompts.maker.prepare_part(example, summaries, new_tokens);
    }
    const std::array<prompting::PlaceholderValue, 2> values = {
        {{"summaries", summaries}, {"query", prompting::query_or_request(example.query)}}};
    return model().prompts.maker.prepare_text(
        example, prompting::fill_template(params().get<std::string>("merge_prompt"), values),
        new_tokens);
  }
};

Result<std::unique_ptr<MethodSession>> open_chunk_merge(const SessionRequest& request,
                                                        ResourceCache& cache) {
  auto model = prompted::open_prompted_model(request, cache);
  if (!model.ok()) return model.error();
  return std::unique_ptr<MethodSession>(
      std::make_unique<ChunkMergeSession>(request, *std::move(model)));
}

}  // namespace

SessionFactory chunk_merge_factory() { return {"chunk_merge", &open_chunk_merge}; }

}  // namespace qfs::zero_shot
