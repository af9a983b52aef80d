#include "methods/models/nn/model_work.h"

#include <algorithm>

namespace qfs::nn {

namespace {

/// Pairs of a query and a key that it sees, in one layer.
int64_t full_pairs(int64_t tokens) { return tokens * tokens; }
int64_t causal_pairs(int64_t tokens) { return tokens * (tokens + 1) / 2; }

int64_t windowed_pairs(const Window& window, int64_t tokens) {
  const int64_t reach = std::min(window.reach, tokens);
  if (reach <= 0) return tokens;
  // A band of 2 reach + 1 keys, less at both ends.
  if (!window.blocks) {
    const int64_t inner = std::min(reach, tokens - 1);
    return tokens * (2 * inner + 1) - inner * (inner + 1);
  }
  int64_t pairs = 0;
  for (int64_t begin = 0; begin < tokens; begin += reach) {
    const int64_t end = std::min(begin + reach, tokens);
    const int64_t first = std::max<int64_t>(begin - reach, 0);
    pairs += (end - begin) * (std::min(end + reach, tokens) - first);
  }
  return pairs;
}

/// Blocks; those of a shorter last one see as many as the others.
int64_t segment_pairs(int64_t segment, int64_t tokens) {
  const int64_t rest = tokens % segment;
  const int64_t blocks = tokens / segment * causal_pairs(segment);
  if (tokens < segment) return causal_pairs(rest);
  return blocks + causal_pairs(segment) - causal_pairs(segment - rest);
}

/// Pairs in all layers; a global token's with those in its window are counted twice.
int64_t input_pairs(const ModelWork& model, int64_t tokens, int64_t global) {
  if (model.segment.tokens > 0) {
    const auto& [segment, kept, written, read, bytes] = model.segment;
    return model.input.layers *
           (segment_pairs(segment, tokens) + kept * std::max<int64_t>(tokens - segment, 0));
  }
  if (model.windows.empty()) {
    return model.input.layers * (model.causal ? causal_pairs(tokens) : full_pairs(tokens));
  }
  int64_t pairs = 0;
  for (const Window& window : model.windows) {
    pairs += std::min(windowed_pairs(window, tokens) + 2 * global * tokens, full_pairs(tokens));
  }
  return pairs;
}

constexpr int64_t kProduct = 2;    // a multiply-add
constexpr int64_t kAttention = 4;  // one in the score, one in the weighted sum

/// Operations of the memory for tokens that each move one into it.
int64_t memory_flops(const SegmentWork& segment, int64_t tokens) {
  return kProduct * (segment.written + segment.read) * std::max<int64_t>(tokens, 0);
}

/// Operations of the decoder for tokens that see `pairs` keys in all, a layer.
int64_t layer_flops(const LayerStack& stack, int64_t tokens, int64_t pairs) {
  return kProduct * stack.elements() * tokens + kAttention * stack.width * stack.layers * pairs;
}

}  // namespace

int64_t LayerStack::elements() const {
  int64_t sum = 0;
  for (const WeightShape& matrix : matrices) sum += matrix.elements();
  return sum;
}

Work prefill_work(const ModelWork& model, const PromptSize& prompt) {
  if (prompt.stepped > 0) {
    PromptSize read = prompt;
    read.stepped = 0;
    read.tokens -= prompt.stepped;
    Work work = prefill_work(model, read);
    for (int64_t past = read.tokens; past < prompt.tokens; ++past) {
      work += decode_work(model, std::vector<RowGroup>{{1, past}});
      work.flops -= kProduct * model.head.elements();  // the last token's alone are wanted
      work.bytes -= model.head_bytes;
    }
    return work;
  }
  const LayerStack& input = model.input;
  const int64_t tokens = prompt.tokens - prompt.shared;
  const int64_t pairs =
      input_pairs(model, prompt.tokens, prompt.global) - input_pairs(model, prompt.shared, 0);
  Work work;
  work.flops = kProduct * input.elements() * tokens + kAttention * input.width * pairs +
               kProduct * model.head.elements();
  work.bytes = input.bytes + model.head_bytes + prompt.shared * model.cache_bytes;
  if (model.segment.tokens > 0) {
    work.flops +=
        memory_flops(model.segment, prompt.tokens - model.segment.tokens - model.segment.kept);
  }
  if (prompt.global > 0 && !model.windows.empty()) {
    // Queries of the global tokens; keys and values of all.
    work.flops +=
        kProduct * input.layers * input.width * input.width * (2 * tokens + prompt.global);
    work.bytes += model.global_bytes;
  }
  if (model.encoder_decoder()) {
    const int64_t begun = prompt.begun;
    work.flops += layer_flops(model.output, begun, causal_pairs(begun) + begun * tokens);
    work.bytes += model.output.bytes;
  }
  return work;
}

int64_t learning_flops(const ModelWork& model, const PromptSize& prompt, const LearningPass& pass) {
  const int64_t tokens = prompt.tokens;
  int64_t attention = kAttention * model.input.width * input_pairs(model, tokens, prompt.global);
  if (model.encoder_decoder()) {
    const int64_t pairs = causal_pairs(prompt.begun) + prompt.begun * tokens;
    attention += layer_flops(model.output, 0, pairs);
  }
  const int64_t head = kProduct * model.head.elements();
  const int64_t read = prefill_work(model, prompt).flops - head;
  const int64_t back =
      (pass.products() - 1) * (read - attention) + (pass.recompute ? 7 : 5) * attention / 2;
  return read + (pass.silent == 0 ? back : back / tokens * (tokens - pass.silent)) +
         pass.logits() * head;
}

Work decode_work(const ModelWork& model, std::span<const RowGroup> groups) {
  Work work;
  work.bytes = model.output.bytes + model.head_bytes;
  const int64_t window = model.segment.tokens + model.segment.kept;
  for (const RowGroup& group : groups) {
    const int64_t past = window > 0 ? std::min(group.past, window - 1) : group.past;
    work.flops += layer_flops(model.output, group.rows, group.rows * (past + 1 + group.source)) +
                  kProduct * model.head.elements() * group.rows;
    work.bytes += group.rows * past * model.cache_bytes + group.source * model.source_bytes;
    if (window == 0 || group.past < window) continue;
    work.flops += memory_flops(model.segment, group.rows);
    work.bytes += 2 * group.rows * model.segment.bytes;
  }
  return work;
}

}  // namespace qfs::nn
