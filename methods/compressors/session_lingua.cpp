#include "methods/compressors/session_lingua.h"

#include <utility>

#include "harness/core/utf8.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/token_loss.h"

namespace qfs::compressors {

Result<Plan> Lingua::plan(const PromptParts& parts) const {
  return split(static_cast<int64_t>(parts.content.size()), reading_.rules);
}

Segment Lingua::demonstration(Range content) const {
  return {content, memory_tokens(content.count, reading_.rules.ratio, reading_.rules.rounding)};
}

bool same_vocabulary(const tokenizers::VocabularyTokenizer& a,
                     const tokenizers::VocabularyTokenizer& b) {
  if (&a == &b) return true;
  if (a.vocabulary_size() != b.vocabulary_size()) return false;
  for (int32_t id = 0; id < a.vocabulary_size(); ++id) {
    if (a.decode({&id, 1}) != b.decode({&id, 1})) return false;
  }
  return true;
}

Result<std::vector<int32_t>> Lingua::kept_of(const PromptParts& parts,
                                             std::span<const Segment> segments,
                                             const TokenLosses& losses) const {
  LinguaTask task{.begin = reading_.begin, .window = reading_.window};
  int64_t all = 0;
  for (const Segment& segment : segments) {
    const auto content = std::span(parts.content)
                             .subspan(static_cast<size_t>(segment.content.first),
                                      static_cast<size_t>(segment.content.count));
    std::vector<int32_t> ids = {content.begin(), content.end()};
    if (vocabularies_) {
      const std::string text = repair_utf8(vocabularies_->generator->decode(content)).text;
      ids = tokenizers::ids_of(vocabularies_->small_lm->encode(text));
    }
    task.texts.push_back(static_cast<int64_t>(ids.size()));
    task.ids.insert(task.ids.end(), ids.begin(), ids.end());
    task.target += segment.memory;
    all += segment.content.count;
  }
  if (vocabularies_) {
    // The same share of its tokens, rounded up.
    const auto own = static_cast<int64_t>(task.ids.size());
    task.target = (task.target * own + all - 1) / all;
  }
  if (reading_.released) {
    auto some = texts_as_released(std::move(task), losses);
    if (!some.ok()) return some.error();
    task = *std::move(some);
  }
  auto ids = reading_.released ? keep_as_released(task, losses) : keep_exactly(task, losses);
  if (!ids.ok() || !vocabularies_) return ids;
  return vocabularies_->generator->ids_behind(
      repair_utf8(vocabularies_->small_lm->decode(*ids)).text);
}

Result<TokenLosses> Lingua::losses(std::vector<ReadPass>& passes) const {
  auto head = nn::guarded("expanding a head", [&]() -> Result<nn::Linear> {
    return nn::unpacked(decoder_->head(), decoder_->hidden());
  });
  if (!head.ok()) return head.error();
  return TokenLosses(
      [this, &passes, head = *std::move(head)](std::span<const int32_t> ids,
                                               int64_t first) -> Result<std::vector<double>> {
        const auto count = static_cast<int64_t>(ids.size()) - first;
        if (count < 1) return std::vector<double>();
        // The last one's successor is nobody's matter.
        const nn::SequenceInput input{.ids = {ids.begin(), ids.end() - 1}};
        const auto states = nn::sequence_states(*decoder_, {&input, 1});
        if (!states.ok()) return states.error();
        passes.push_back(
            {static_cast<int64_t>(input.ids.size()), count, 0, &decoder_->shape().sequence});
        const std::vector<int64_t> wanted(ids.begin() + first, ids.end());
        const auto known =
            nn::label_log_probabilities(head, states->narrow(0, first - 1, count), wanted);
        if (!known.ok()) return known.error();
        const at::Tensor losses = known->neg().to(at::kCPU, at::kDouble).contiguous();
        return std::vector<double>(losses.const_data_ptr<double>(),
                                   losses.const_data_ptr<double>() + losses.numel());
      });
}

Result<std::vector<Compressed>> Lingua::compress(std::span<const CompressionTask> tasks) const {
  std::vector<ReadPass> passes;
  const auto losses = this->losses(passes);
  if (!losses.ok()) return losses.error();
  std::vector<Compressed> kept(tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    for (const Segment& segment : tasks[i].plan.segments) {
      auto ids = kept_of(tasks[i].parts, {&segment, 1}, *losses);
      if (!ids.ok()) return ids.error();
      kept[i].memory.push_back({*std::move(ids)});
    }
    kept[i].passes = std::exchange(passes, {});
  }
  return kept;
}

Result<Compressed> Lingua::compress_demonstrations(const CompressionTask& task) const {
  if (!reading_.released) return Compressor::compress_demonstrations(task);
  Compressed kept;
  const auto losses = this->losses(kept.passes);
  if (!losses.ok()) return losses.error();
  auto ids = kept_of(task.parts, task.plan.segments, *losses);
  if (!ids.ok()) return ids.error();
  kept.memory.push_back({*std::move(ids)});
  return kept;
}

}  // namespace qfs::compressors
