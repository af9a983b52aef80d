#include "methods/models/training/sequence_task.h"

#include <algorithm>
#include <utility>

#include "harness/core/rng.h"
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

  Result<LossSum> backward(std::span<const int64_t> chosen, double scale, int64_t step) const {
    std::vector<GraphRow> rows;
    LossSum all;
    for (const int64_t i : chosen) {
      const LabelledSequence& sequence = of_.train[static_cast<size_t>(i)];
      rows.push_back({sequence,
                      static_cast<uint64_t>(step) * of_.train.size() + static_cast<uint64_t>(i),
                      step});
      all.labels += counted(sequence);
    }
    const auto sum = loss(rows, of_.label_smoothing, all.flops);
    if (!sum.ok()) return sum.error();
    return nn::guarded("computing gradients", [&]() -> Result<LossSum> {
      // None, where what rows read instead of their sequences has nothing of what is trained.
      if (sum->requires_grad()) (*sum * scale).backward();
      all.loss = sum->item<double>();
      return all;
    });
  }

  Result<LossSum> development() const {
    LossSum all;
    for (const LabelledSequence& sequence : of_.development) {
      const std::vector<GraphRow> row = {{sequence}};
      const auto sum = loss(row, 0, all.flops);
      if (!sum.ok()) return sum.error();
      all.loss += sum->item<double>();
      all.labels += counted(sequence);
    }
    return all;
  }

 private:
  TrainingItem item(const LabelledSequence& sequence) const {
    const bool encoder = of_.decoder->shape().sequence.encoder_decoder();
    const size_t begun = encoder ? sequence.labels.size() : 0;
    return {.tokens = static_cast<int64_t>(sequence.input.ids.size() + begun),
            .labels = counted(sequence),
            .flops = of_.read ? 0 : flops_of(sequence)};  // what is read differs from step to step
  }

  nn::LearningPass pass_of(int64_t labels, int64_t silent = 0) const {
    return {.labels = labels,
            .weights = of_.matrices_trained,
            .recompute = of_.recompute != nn::Recompute::nothing,
            .silent = silent};
  }

  /// Of learning from what is read, forward and back.
  int64_t flops_of(const LabelledSequence& sequence) const {
    const auto read = static_cast<int64_t>(sequence.input.ids.size());
    const nn::LearningPass pass = pass_of(labels_of(sequence), silent_tokens(sequence));
    if (of_.reading_flops) {
      const int64_t head = 2 * of_.work.head.elements();  // attention counts as products
      return pass.products() * (of_.reading_flops(sequence) - head) + pass.logits() * head;
    }
    const nn::PromptSize size = {
        .tokens = read,
        .global = static_cast<int64_t>(sequence.input.global_positions.size()),
        .begun = static_cast<int64_t>(sequence.labels.size())};
    return nn::learning_flops(of_.work, size, pass);
  }

  int64_t flops_of(const ReadRows& read) const {
    int64_t flops = 0;
    for (const int64_t tokens : read.passes) {
      flops += nn::learning_flops(of_.work, {.tokens = tokens}, pass_of(0));
    }
    for (const LabelledSequence& sequence : read.sequences) flops += flops_of(sequence);
    return flops;
  }

  /// Segments in front of the first label are read without gradients.
  int64_t silent_tokens(const LabelledSequence& sequence) const {
    const int64_t segment = of_.work.segment.tokens;
    return segment > 0 ? first_label(sequence) / segment * segment : 0;
  }

  static int64_t first_label(const LabelledSequence& sequence) {
    return std::ranges::find_if(sequence.labels,
                                [](int64_t label) { return label != nn::kNoLabel; }) -
           sequence.labels.begin();
  }

  static int64_t labels_of(const LabelledSequence& sequence) {
    return static_cast<int64_t>(sequence.labels.size()) -
           std::ranges::count(sequence.labels, nn::kNoLabel);
  }

  /// What the loss of a sequence is a sum over.
  int64_t counted(const LabelledSequence& sequence) const {
    return of_.segment_means ? 1 : labels_of(sequence);
  }

  /// Adds to `flops` what items do not have.
  Result<at::Tensor> loss(std::span<const GraphRow> rows, double smoothing, int64_t& flops) const {
    if (!of_.read) return loss_of(rows, {}, smoothing);
    const auto read = of_.read(rows);
    if (!read.ok()) return read.error();
    flops += flops_of(*read);
    std::vector<GraphRow> own;
    for (const LabelledSequence& sequence : read->sequences) own.push_back({sequence});
    return loss_of(own, read->parts, smoothing);
  }

  /// `parts`: ReadRows::parts.
  Result<at::Tensor> loss_of(std::span<const GraphRow> rows, std::span<const size_t> parts,
                             double smoothing) const {
    const auto adapters = of_.adapters(rows);
    if (!adapters.ok()) return adapters.error();
    std::shared_ptr<const nn::InfiniMemory> memory;
    if (of_.memory) {
      auto bound = of_.memory();
      if (!bound.ok()) return bound.error();
      memory = *std::move(bound);
    }
    nn::SegmentReading reading;
    std::vector<nn::SequenceInput> inputs;
    std::vector<int64_t> labels;
    for (size_t i = 0; i < rows.size(); ++i) {
      const LabelledSequence& sequence = rows[i].sequence;
      inputs.push_back(sequence.input);
      if ((*adapters)[i] != nullptr) inputs.back().adapters = (*adapters)[i];
      inputs.back().memory = memory;
      if (memory != nullptr && of_.later_adapters) {
        const auto tokens = static_cast<int64_t>(sequence.input.ids.size());
        const size_t segments = nn::segment_lengths(tokens, memory->options.segment).size();
        auto later = of_.later_adapters(rows[i], static_cast<int64_t>(segments) - 1);
        if (!later.ok()) return later.error();
        inputs.back().later_adapters = *std::move(later);
      }
      if (of_.dropout.any() && rows[i].draw) {
        const uint64_t stream = Rng::derived(of_.seed, "dropout", *rows[i].draw).next();
        inputs.back().dropout = std::make_shared<nn::Dropout>(of_.dropout, stream);
      }
      reading.gradients_from.push_back(first_label(sequence));
      labels.insert(labels.end(), sequence.labels.begin(), sequence.labels.end());
    }
    const std::shared_ptr<const nn::Decoder> decoder = of_.trained ? of_.trained() : of_.decoder;
    const nn::SourceReadings sources = of_.sources ? of_.sources(rows) : nn::SourceReadings();
    const auto states = nn::sequence_states(*decoder, inputs, of_.recompute, reading, sources);
    if (!states.ok()) return states.error();
    const nn::HeadLoss loss = {.smoothing = smoothing};
    if (!of_.segment_means) {
      return nn::summed_token_loss(decoder->head(), *states, labels, loss);
    }
    return sum_of_means(mean_lengths(rows, parts, memory.get()), labels, decoder->head(), *states,
                        loss);
  }

  /// Of how many positions each mean is, in order.
  static std::vector<int64_t> mean_lengths(std::span<const GraphRow> rows,
                                           std::span<const size_t> parts,
                                           const nn::InfiniMemory* memory) {
    std::vector<int64_t> lengths;
    for (size_t i = 0, row = 0; i < rows.size(); ++row) {
      int64_t tokens = 0;
      for (const size_t end = i + (parts.empty() ? 1 : parts[row]); i < end; ++i) {
        tokens += std::ssize(rows[i].sequence.labels);
      }
      const int64_t segment = memory == nullptr ? tokens : memory->options.segment;
      const std::vector<int64_t> own = nn::segment_lengths(tokens, segment);
      lengths.insert(lengths.end(), own.begin(), own.end());
    }
    return lengths;
  }

  static Result<at::Tensor> sum_of_means(std::span<const int64_t> lengths,
                                         std::span<const int64_t> labels, const nn::Linear& head,
                                         const at::Tensor& states, const nn::HeadLoss& loss) {
    at::Tensor sum;
    int64_t first = 0;
    for (const int64_t length : lengths) {
      const auto own = labels.subspan(static_cast<size_t>(first), static_cast<size_t>(length));
      const int64_t count = length - std::ranges::count(own, nn::kNoLabel);
      if (count > 0) {
        const auto summed = nn::summed_token_loss(head, states.narrow(0, first, length), own, loss);
        if (!summed.ok()) return summed.error();
        const at::Tensor mean = *summed / count;
        sum = sum.defined() ? sum + mean : mean;
      }
      first += length;
    }
    if (!sum.defined()) return invalid_argument("no position has a label");
    return sum;
  }

  SequenceTraining of_;
};

}  // namespace

TrainingTask sequence_task(SequenceTraining training) {
  const auto learner = std::make_shared<SequenceLearner>(std::move(training));
  TrainingTask task;
  task.items = learner->items();
  task.backward = [learner](std::span<const int64_t> items, double scale, int64_t step) {
    return learner->backward(items, scale, step);
  };
  if (learner->has_development()) {
    task.development = [learner] { return learner->development(); };
  }
  return task;
}

}  // namespace qfs::training
