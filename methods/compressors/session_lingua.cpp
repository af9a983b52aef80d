#include "methods/compressors/session_lingua.h"

#include <utility>

#include "harness/core/utf8.h"
#include "methods/compressors/session_held_tokens.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/token_loss.h"

namespace qfs::compressors {

namespace {

class ReadingLm final : public SmallLm {
 public:
  /// Notes what it reads in `passes`.
  ReadingLm(const nn::Decoder& decoder, const nn::Linear& head, std::vector<ReadPass>& passes)
      : decoder_(decoder), head_(head), passes_(passes), tokens_(decoder) {}

  int64_t positions() const override { return decoder_.shape().sequence.context; }

  Result<std::vector<double>> losses(std::span<const int32_t> ids, int64_t first,
                                     int64_t held) override {
    const int64_t count = static_cast<int64_t>(ids.size()) - first;
    if (count < 1) return std::vector<double>();
    // The last one's successor is nobody's matter.
    const auto read = ids.first(ids.size() - 1);
    note(static_cast<int64_t>(read.size()), count);
    const auto states = states_of(read, held);
    if (!states.ok()) return states.error();
    const std::vector<int64_t> wanted(ids.begin() + first, ids.end());
    const auto known =
        nn::label_log_probabilities(head_, states->narrow(0, first - 1, count), wanted);
    if (!known.ok()) return known.error();
    const at::Tensor losses = known->neg().to(at::kCPU, at::kDouble).contiguous();
    return std::vector<double>(losses.const_data_ptr<double>(),
                               losses.const_data_ptr<double>() + losses.numel());
  }

  Status forget(int64_t first, int64_t count) override {
    return nn::guarded("forgetting tokens", [&]() -> Status {
      tokens_.forget(first, count);
      return {};
    });
  }

 private:
  /// A pass counts attention to its own tokens; to those that are held it is more.
  void note(int64_t tokens, int64_t headed) {
    const nn::DecoderShape& shape = decoder_.shape();
    const auto pairs = static_cast<double>(tokens) * static_cast<double>(tokens_.held());
    passes_.push_back({tokens, headed,
                       2.0 * static_cast<double>(shape.layers * shape.query_width()) * pairs,
                       &shape.sequence});
  }

  Result<at::Tensor> states_of(std::span<const int32_t> ids, int64_t held) {
    if (held == 0 && tokens_.held() == 0) {
      const nn::SequenceInput input{.ids = {ids.begin(), ids.end()}};
      return nn::sequence_states(decoder_, {&input, 1});
    }
    return nn::guarded("reading behind what is held", [&]() -> Result<at::Tensor> {
      const int64_t before = tokens_.held();
      at::Tensor states = tokens_.read(ids);
      tokens_.forget(before + held, static_cast<int64_t>(ids.size()) - held);
      return states;
    });
  }

  const nn::Decoder& decoder_;
  const nn::Linear& head_;
  std::vector<ReadPass>& passes_;
  HeldTokens tokens_;
};

Result<nn::Linear> unpacked_head(const nn::Decoder& decoder) {
  return nn::guarded("expanding a head", [&]() -> Result<nn::Linear> {
    return nn::unpacked(decoder.head(), decoder.hidden());
  });
}

}  // namespace

Result<Plan> Lingua::plan(const PromptParts& parts) const {
  return split(static_cast<int64_t>(parts.content.size()), reading_.rules);
}

Segment Lingua::demonstration(Range content) const {
  return {content, memory_tokens(content.count, reading_.rules.ratio, Rounding::ceil)};
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
                                             const nn::Linear& head,
                                             std::vector<ReadPass>& passes) const {
  ReadingLm model(*decoder_, head, passes);
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
    auto some = texts_as_released(std::move(task), model);
    if (!some.ok()) return some.error();
    task = *std::move(some);
  }
  auto ids = reading_.released ? keep_as_released(task, model) : keep_exactly(task, model);
  if (!ids.ok() || !vocabularies_) return ids;
  return vocabularies_->generator->ids_behind(
      repair_utf8(vocabularies_->small_lm->decode(*ids)).text);
}

Result<std::vector<Compressed>> Lingua::compress(std::span<const CompressionTask> tasks) const {
  const auto head = unpacked_head(*decoder_);
  if (!head.ok()) return head.error();
  std::vector<ReadPass> passes;
  std::vector<Compressed> kept(tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    for (const Segment& segment : tasks[i].plan.segments) {
      auto ids = kept_of(tasks[i].parts, {&segment, 1}, *head, passes);
      if (!ids.ok()) return ids.error();
      kept[i].memory.push_back({*std::move(ids)});
    }
    kept[i].passes = std::exchange(passes, {});
  }
  return kept;
}

Result<Compressed> Lingua::compress_demonstrations(const CompressionTask& task) const {
  if (!reading_.released) return Compressor::compress_demonstrations(task);
  const auto head = unpacked_head(*decoder_);
  if (!head.ok()) return head.error();
  Compressed kept;
  auto ids = kept_of(task.parts, task.plan.segments, *head, kept.passes);
  if (!ids.ok()) return ids.error();
  kept.memory.push_back({*std::move(ids)});
  return kept;
}

}  // namespace qfs::compressors
