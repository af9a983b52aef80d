#include "methods/unlimiformer/session_reading.h"

#include <ATen/ops/full.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "methods/models/nn/recompute.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/unlimiformer/session_index.h"
#include "methods/unlimiformer/windows.h"

namespace qfs::unlimiformer {

namespace {

class WindowedReading : public nn::SourceReading {
 public:
  explicit WindowedReading(const Retrieval& retrieval) : retrieval_(retrieval) {}

  Result<at::Tensor> encode(const nn::Decoder& decoder, const nn::SequenceInput& input,
                            nn::Recompute recompute) const final {
    const auto states = windowed_states(decoder, input, retrieval_.overlap, recompute);
    if (!states.ok()) return states.error();
    return nn::guarded("joining windows",
                       [&]() -> Result<at::Tensor> { return states->unsqueeze(0); });
  }

  at::Tensor attend(const nn::SourceQuery& query) const final {
    if (retrieval_.retrieved >= query.states.size(1)) return nn::attend_to_all(query);
    return attend_to_some(query, retrieval_.retrieved);
  }

 private:
  /// As attend, to fewer states than there are.
  virtual at::Tensor attend_to_some(const nn::SourceQuery& query, int64_t count) const = 0;

  Retrieval retrieval_;
};

/// Each layer sees states that it draws.
class DrawnStates final : public WindowedReading {
 public:
  DrawnStates(const Retrieval& retrieval, uint64_t seed, std::optional<uint64_t> draw)
      : WindowedReading(retrieval), seed_(seed), draw_(draw) {}

 private:
  at::Tensor attend_to_some(const nn::SourceQuery& query, int64_t count) const override {
    const auto layers = static_cast<uint64_t>(query.decoder.shape().layers);
    const Rng rng =
        Rng::derived(seed_, draw_ ? "unlimiformer_states" : "unlimiformer_development_states",
                     draw_.value_or(0) * layers + query.layer);
    nn::SourceQuery some = query;
    some.states = query.states.index_select(
        1, at::tensor(drawn_places(rng, query.states.size(1), count), at::kLong));
    return nn::attend_to_all(some);
  }

  uint64_t seed_;
  std::optional<uint64_t> draw_;
};

/// Where a position does not look: all but the `count` highest of its scores [rows, tokens].
at::Tensor passed_over(const at::Tensor& scores, int64_t count) {
  const at::Tensor held = scores.detach().contiguous();
  const int64_t tokens = held.size(1);
  at::Tensor passed = at::full(held.sizes(), true, at::kBool);
  const auto* const of_rows = held.const_data_ptr<float>();
  auto* const marks = passed.mutable_data_ptr<bool>();
  nn::for_items(held.size(0), [&](int64_t row) {
    for (const int64_t i : highest(of_rows + row * tokens, tokens, count)) {
      marks[row * tokens + i] = false;
    }
  });
  return passed;
}

/// Each position and head sees the states that it scores highest.
class BestStates final : public WindowedReading {
 public:
  using WindowedReading::WindowedReading;

 private:
  /// A head's scores [rows, tokens] are computed again for gradients, so that they are of one head
  /// at a time; no key is there more than once.
  at::Tensor attend_to_some(const nn::SourceQuery& query, int64_t count) const override {
    const nn::DecoderShape& c = query.decoder.shape();
    const std::vector<at::Tensor> read =
        query.decoder.source_keys_values(query.layer, query.states, query.adapters).unbind(0);
    const std::vector<at::Tensor> keys = read[0].unbind(0);
    const std::vector<at::Tensor> values = read[1].unbind(0);
    const double scale = 1 / std::sqrt(static_cast<double>(c.head_dim));
    const std::vector<at::Tensor> asking =
        (query.queries * scale).view({-1, c.heads, c.head_dim}).unbind(1);
    // May run again after the row's dropout has gone.
    const auto dropout = query.dropout == nullptr ? std::nullopt : std::optional(*query.dropout);
    const auto weighted = [count, dropout, place = query.place()](
                              std::span<const at::Tensor> inputs, size_t head) {
      const at::Tensor scores = at::mm(inputs[0], inputs[1].t());
      at::Tensor weights =
          scores.masked_fill(passed_over(scores, count), -std::numeric_limits<float>::infinity())
              .softmax(1);
      if (dropout) weights = dropout->of_part(head).of_attention(weights, place);
      return at::mm(weights, inputs[2]);
    };
    std::vector<at::Tensor> outputs;
    for (size_t i = 0; i < asking.size(); ++i) {
      outputs.push_back(nn::run_block(
          nn::Recompute::layers, std::vector<at::Tensor>{asking[i], keys[i], values[i]}, {},
          [weighted, i](std::span<const at::Tensor> inputs) { return weighted(inputs, i); }));
    }
    return at::stack(outputs, 1).flatten(1);
  }
};

bool retrieves(const TrainingReading& how, const training::GraphRow& row) {
  if (how.mode == "alternating") return !row.draw || row.step % 2 == 0;
  return how.mode == "retrieval";
}

/// States that a position scores and sums, the mean of both.
int64_t seen(const TrainingReading& how, int64_t tokens) {
  const int64_t read = std::min(how.retrieval.retrieved, tokens);
  if (how.mode == "random_encoded") return read;
  const int64_t searched = (tokens + read) / 2;
  return how.mode == "retrieval" ? searched : (searched + read) / 2;
}

}  // namespace

nn::SourceReadings readings_of(const TrainingReading& how,
                               std::span<const training::GraphRow> rows) {
  nn::SourceReadings readings;
  for (const training::GraphRow& row : rows) {
    if (retrieves(how, row)) {
      readings.push_back(std::make_shared<BestStates>(how.retrieval));
    } else {
      readings.push_back(std::make_shared<DrawnStates>(how.retrieval, how.seed, row.draw));
    }
  }
  return readings;
}

std::vector<int64_t> drawn_places(Rng rng, int64_t tokens, int64_t count) {
  std::vector<int64_t> places;
  for (int64_t i = 0; i < tokens; ++i) {
    // Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S.
    const auto wanted = static_cast<uint64_t>(count) - places.size();
    if (rng.below(static_cast<uint64_t>(tokens - i)) < wanted) places.push_back(i);
  }
  return places;
}

int64_t reading_flops(const TrainingReading& how, const nn::ModelWork& work, int64_t window,
                      const training::LabelledSequence& sequence) {
  const auto tokens = static_cast<int64_t>(sequence.input.ids.size());
  nn::ModelWork encoder = work;
  encoder.output = {};
  encoder.head = {};
  nn::ModelWork decoder = work;
  decoder.input = {};
  const auto begun = static_cast<int64_t>(sequence.labels.size());
  int64_t flops = nn::prefill_work(decoder, {.tokens = seen(how, tokens), .begun = begun}).flops;
  for (const Window& some : windows_of(tokens, window, how.retrieval.overlap)) {
    flops += nn::prefill_work(encoder, {.tokens = some.end - some.begin, .begun = 0}).flops;
  }
  return flops;
}

}  // namespace qfs::unlimiformer
