#include "methods/zero_shot/session_chunks.h"

#include <algorithm>
#include <utility>

#include "harness/core/rng.h"
#include "harness/core/utf8.h"
#include "methods/models/prompting/truncation.h"
#include "methods/zero_shot/chunks.h"

namespace qfs::zero_shot {

void UnitTimes::tell(PredictionSink& sink) const { prompted::tell_times(sum, calls, sink); }

Result<ChunkedExample> read_chunks(const Example& example, const PromptedModel& model,
                                   const Params& params) {
  const auto policy = prompting::truncation_policy_from(params.get<std::string>("truncate"));
  if (!policy) {
    return invalid_argument("unknown truncation '" + params.get<std::string>("truncate") + "'");
  }
  const auto document = prompting::truncate_document(example, *model.prompts.counter,
                                                     params.find<int64_t>("input_tokens"), *policy);
  if (!document.ok()) return document.error();
  const ChunkSizes sizes{params.get<int64_t>("local_context"), params.get<int64_t>("overlap")};
  return ChunkedExample{document->ledger, make_chunks(*document, *model.prompts.counter, sizes)};
}

Result<std::vector<std::string>> ChunkedCalls::outputs(const std::vector<PreparedPrompt>& prompts,
                                                       int64_t new_tokens, int64_t batch) {
  const decoding::DecodingOptions options = decoding::with_new_tokens(model_.options, new_tokens);
  const auto most = static_cast<size_t>(batch);
  std::vector<std::string> texts;
  for (size_t begin = 0; begin < prompts.size(); begin += most) {
    std::vector<nn::SequenceInput> inputs;
    std::vector<uint64_t> seeds;
    for (size_t i = begin; i < std::min(begin + most, prompts.size()); ++i) {
      inputs.push_back(prompts[i].input);
      seeds.push_back(Rng::derived(stream_, "call", calls_++).next());
      sums_.tokens_in += static_cast<int64_t>(prompts[i].input.ids.size());
    }
    const auto result = model_.generator.generate(inputs, options, seeds);
    if (!result.ok()) return result.error();
    for (const decoding::Generated& row : result->rows) {
      RepairedText repaired = repair_utf8(row.text);
      sums_.repaired_bytes += repaired.replaced_bytes;
      sums_.tokens_out += static_cast<int64_t>(row.ids.size());
      sums_.finish = row.finish;
      cut_ += row.finish == FinishReason::length ? 1 : 0;
      texts.push_back(std::move(repaired.text));
    }
    times_.calls += static_cast<int64_t>(inputs.size());
    times_.sum += result->times;
  }
  if (!prompts.empty()) sums_.prompt = prompts.back().text;
  return texts;
}

Result<std::string> ChunkedCalls::output(const PreparedPrompt& prompt, int64_t new_tokens) {
  auto texts = outputs({prompt}, new_tokens, 1);
  if (!texts.ok()) return texts.error();
  return std::move(texts->front());
}

Prediction ChunkedCalls::finish(std::string text, const Truncation& ledger, size_t chunks,
                                int64_t rounds) const {
  Prediction prediction = sums_;
  prediction.text = std::move(text);
  prediction.truncation = ledger;
  // Keys in order: canonical as it stands.
  prediction.extra = Json{R"({"calls":)" + std::to_string(calls_) + R"(,"chunks":)" +
                          std::to_string(chunks) + R"(,"cut_outputs":)" + std::to_string(cut_) +
                          R"(,"rounds":)" + std::to_string(rounds) + "}"};
  return prediction;
}

Status ChunkedSession::run(std::span<const NumberedExample> unit, PredictionSink& sink) {
  UnitTimes times;
  for (const NumberedExample& numbered : unit) {
    const auto stream =
        Rng::derived(seed_, method_, static_cast<uint64_t>(numbered.ordinal)).next();
    ChunkedCalls calls(model_, times, stream);
    Result<Prediction> prediction = summarize(numbered.example, calls);
    if (!prediction.ok()) return prediction.error();
    sink.emit(numbered.ordinal, *std::move(prediction));
  }
  times.tell(sink);
  return {};
}

}  // namespace qfs::zero_shot
