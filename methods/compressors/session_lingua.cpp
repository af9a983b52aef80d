#include "methods/compressors/session_lingua.h"

#include <utility>

#include "methods/models/nn/sequences.h"
#include "methods/models/nn/token_loss.h"

namespace qfs::compressors {

Result<Plan> Lingua::plan(const PromptParts& parts) const {
  return split(static_cast<int64_t>(parts.content.size()), reading_.rules);
}

Result<std::vector<Compressed>> Lingua::compress(std::span<const CompressionTask> tasks) const {
  std::vector<ReadPass> passes;
  const TokenLosses losses = [&](std::span<const int32_t> ids,
                                 int64_t first) -> Result<std::vector<double>> {
    const auto count = static_cast<int64_t>(ids.size()) - first;
    if (count < 1) return std::vector<double>();
    // The last one's successor is nobody's matter.
    const nn::SequenceInput input{.ids = {ids.begin(), ids.end() - 1}};
    const auto states = nn::sequence_states(*decoder_, {&input, 1});
    if (!states.ok()) return states.error();
    passes.push_back({static_cast<int64_t>(input.ids.size()), count});
    const std::vector<int64_t> wanted(ids.begin() + first, ids.end());
    const auto known =
        nn::label_log_probabilities(decoder_->head(), states->narrow(0, first - 1, count), wanted);
    if (!known.ok()) return known.error();
    const at::Tensor losses = known->neg().to(at::kCPU, at::kDouble).contiguous();
    return std::vector<double>(losses.const_data_ptr<double>(),
                               losses.const_data_ptr<double>() + losses.numel());
  };
  std::vector<Compressed> kept(tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    for (const Segment& segment : tasks[i].plan.segments) {
      const auto begin = tasks[i].parts.content.begin() + segment.content.first;
      const LinguaTask task{.begin = reading_.begin,
                            .ids = {begin, begin + segment.content.count},
                            .target = segment.memory,
                            .window = reading_.window};
      auto ids = reading_.released ? keep_as_released(task, losses) : keep_exactly(task, losses);
      if (!ids.ok()) return ids.error();
      kept[i].memory.push_back({*std::move(ids)});
    }
    kept[i].passes = std::exchange(passes, {});
  }
  return kept;
}

}  // namespace qfs::compressors
