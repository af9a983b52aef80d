// ModelWork: the numbers of a model from which its work follows: the floating-point operations of
// reading a prompt or producing a token, and the bytes that this has to read.
//
// Filled by each architecture from its loaded weights; used by the generator, which counts the work
// of its calls, and by the roofline. Pure; thread-safe; torch-free. Counted is what every program
// must do whatever its kernels: 2 operations a matrix element and token; 4 operations a query,
// visible key and unit of attention's width, for scores and weighted values; the head for the last
// position of a prompt and for produced tokens only; weights read once a call, a row's cache once a
// step, where it is a memory written once too. Norms, activations, biases' sums and writes are left
// out. Source: Kaplan et al. 2020, section 2.1, and the usual model-FLOPs count, with causal
// attention counted once (half a square).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harness/api/work.h"
#include "methods/models/nn/windows.h"

namespace qfs::nn {

/// Bytes of an element of weights and caches as they are run.
struct ElementBytes {
  std::optional<int64_t> weights =
      {};  ///< std::nullopt: as loaded, packed ones in their packed size
  int64_t caches = 4;

  /// Of weights that are loaded as float32.
  int64_t of_floats() const { return weights.value_or(4); }
};

/// A weight matrix [outputs, inputs] that occurs `count` times.
struct WeightShape {
  int64_t outputs = 0;
  int64_t inputs = 0;
  int64_t count = 1;

  int64_t elements() const { return outputs * inputs * count; }
  friend bool operator==(const WeightShape&, const WeightShape&) = default;
};

/// Layers that a token passes.
struct LayerStack {
  std::vector<WeightShape> matrices;
  int64_t bytes = 0;  ///< of everything in them, as it lies in memory
  int64_t layers = 0;
  int64_t width = 0;  ///< of attention: heads x head_dim

  int64_t elements() const;
};

/// Attention with a compressive memory (infini_memory.h), of all layers.
struct SegmentWork {
  int64_t tokens = 0;   ///< attended to at once; 0: there is no memory
  int64_t kept = 0;     ///< first tokens that all others attend to besides
  int64_t written = 0;  ///< multiply-adds of a token that leaves the window
  int64_t read = 0;     ///< of one that reads what has left it
  int64_t bytes = 0;    ///< of a row's memory
};

struct ModelWork {
  /// What each token of a prompt passes; of an encoder-decoder, a token of its source: the encoder
  /// and the projections that cross-attention reads.
  LayerStack input;
  LayerStack output;  ///< what a produced token passes; of a decoder-only model `input` again
  WeightShape head;   ///< [vocabulary, hidden]; 0 x 0: an encoder alone
  int64_t head_bytes = 0;
  int64_t cache_bytes = 0;      ///< of one position of a row that is continued
  int64_t source_bytes = 0;     ///< of one position of the source; 0: decoder-only
  bool causal = true;           ///< how the tokens of the input see one another
  std::vector<Window> windows;  ///< of the input's layers, where attention is windowed
  int64_t global_bytes = 0;     ///< of the second projections that global tokens use
  SegmentWork segment = {};     ///< of decoder-only models

  bool encoder_decoder() const { return source_bytes > 0; }
};

struct PromptSize {
  int64_t tokens = 0;
  int64_t shared = 0;   ///< the first of them, whose keys and values another row has; causal models
  int64_t global = 0;   ///< those that see all and are seen by all
  int64_t begun = 1;    ///< tokens that the decoder of an encoder-decoder begins with
  int64_t stepped = 0;  ///< the last of them, read one by one; of decoder-only models
};

/// Reading a prompt or source, up to the logits after the last token.
Work prefill_work(const ModelWork& model, const PromptSize& prompt);

/// How a sequence is learned from.
struct LearningPass {
  int64_t labels = 1;      ///< positions that go through the head
  bool weights = false;    ///< they have gradients, too; else only what goes through them
  bool recompute = false;  ///< layers are computed again for their gradients
  int64_t silent = 0;      ///< tokens in front that no gradient reaches

  /// How often a product is computed: forward, for gradients of what goes through it and of its
  /// weights, and again.
  int64_t products() const { return 2 + (weights ? 1 : 0) + (recompute ? 1 : 0); }
  /// How often a position's logits are, which are not computed again.
  int64_t logits() const { return (2 + (weights ? 1 : 0)) * labels; }
};

/// Operations of reading a sequence and of its gradients: of products as much work again, and once
/// more for weights; of attention 2.5 times its own, its scores computed again, which is how its
/// kernels count (Dao 2023, arXiv 2307.08691, section 4.1). Without `recompute` 4NT + 3.5A of a
/// frozen model of N weights that reads T tokens with attention A, 6NT + 3.5A of one that is
/// trained.
int64_t learning_flops(const ModelWork& model, const PromptSize& prompt, const LearningPass& pass);

/// Rows that go on from one input.
struct RowGroup {
  int64_t rows = 1;
  int64_t past = 0;    ///< positions that each holds before the step
  int64_t source = 0;  ///< tokens of the source that they share
};

/// One step that produces a token for every row.
Work decode_work(const ModelWork& model, std::span<const RowGroup> groups);

}  // namespace qfs::nn
