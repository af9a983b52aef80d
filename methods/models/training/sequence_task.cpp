#include "methods/models/training/sequence_task.h"

#include <algorithm>
#include <utility>

#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/token_loss.h"

namespace qfs::training {

namespace {

class SequenceLearner {
 public:
  explicit SequenceLearner(SequenceTraining training) : of_(std::move(training)) {}

  std::vector<TrainingItem> items() const {
    std::vector<TrainingItem> items;
    for (const LabelledSequence& sequence : of_.train) items.push_back(item(sequence));
    return items;
  }
  bool has_development() const { return !of_.development.empty(); }

  Result<LossSum> backward(std::span<const int64_t> chosen, double scale) const {
    std::vector<const LabelledSequence*> sequences;
    for (const int64_t i : chosen) sequences.push_back(&of_.train[static_cast<size_t>(i)]);
    const auto sum = loss(sequences);
    if (!sum.ok()) return sum.error();
    return nn::guarded("computing gradients", [&]() -> Result<LossSum> {
      (*sum * scale).backward();
      return LossSum{sum->item<double>(), labels_of(sequences)};
    });
  }

  Result<LossSum> development() const {
    LossSum all;
    for (const LabelledSequence& sequence : of_.development) {
      const auto sum = loss({&sequence});
      if (!sum.ok()) return sum.error();
      all.loss += sum->item<double>();
      all.labels += labels_of({&sequence});
    }
    return all;
  }

 private:
  TrainingItem item(const LabelledSequence& sequence) const {
    const auto read = static_cast<int64_t>(sequence.input.ids.size());
    const auto begun = static_cast<int64_t>(sequence.labels.size());
    const bool encoder = of_.decoder->shape().sequence.encoder_decoder();
    const int64_t labels = labels_of({&sequence});
    const auto global = static_cast<int64_t>(sequence.input.global_positions.size());
    const Work forward =
        nn::prefill_work(of_.work, {.tokens = read, .global = global, .begun = begun});
    // The head multiplies the labelled positions instead of the last. Weights have no gradients, so
    // that those of what goes through them are as much work again.
    const int64_t head = 2 * of_.work.head.outputs * of_.work.head.inputs * (labels - 1);
    const int64_t passes = of_.recompute == nn::Recompute::nothing ? 2 : 3;
    return {.tokens = read + (encoder ? begun : 0),
            .labels = labels,
            .flops = passes * static_cast<int64_t>(forward.flops) + 2 * head};
  }

  static int64_t labels_of(const std::vector<const LabelledSequence*>& sequences) {
    int64_t count = 0;
    for (const LabelledSequence* sequence : sequences) {
      count += static_cast<int64_t>(sequence->labels.size()) -
               std::ranges::count(sequence->labels, nn::kNoLabel);
    }
    return count;
  }

  Result<at::Tensor> loss(const std::vector<const LabelledSequence*>& sequences) const {
    const auto adapters = of_.adapters();
    if (!adapters.ok()) return adapters.error();
    std::vector<nn::SequenceInput> inputs;
    std::vector<int64_t> labels;
    for (const LabelledSequence* sequence : sequences) {
      inputs.push_back(sequence->input);
      inputs.back().adapters = *adapters;
      labels.insert(labels.end(), sequence->labels.begin(), sequence->labels.end());
    }
    const auto states = nn::sequence_states(*of_.decoder, inputs, of_.recompute);
    if (!states.ok()) return states.error();
    return nn::summed_token_loss(of_.decoder->head(), *states, labels);
  }

  SequenceTraining of_;
};

}  // namespace

TrainingTask sequence_task(SequenceTraining training) {
  const auto learner = std::make_shared<SequenceLearner>(std::move(training));
  TrainingTask task;
  task.items = learner->items();
  task.backward = [learner](std::span<const int64_t> items, double scale) {
    return learner->backward(items, scale);
  };
  if (learner->has_development()) {
    task.development = [learner] { return learner->development(); };
  }
  return task;
}

}  // namespace qfs::training
