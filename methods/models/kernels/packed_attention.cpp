#include "methods/models/kernels/packed_attention.h"

#include <algorithm>
#include <cmath>

#include "methods/models/kernels/dense_kernels.h"
#include "methods/models/kernels/packed_products.h"

namespace qfs::kernels {

namespace {

/// Queries of a block, a multiple of the kernels' rows: the scores of 1,024 keys stay in a core's
/// second cache.
constexpr int64_t kQueries = 48;
/// Keys of one chain of sums: what is packed of them stays in the first cache.
constexpr int64_t kPartKeys = 256;
/// Sums of gradients of keys and values that are held beside one another, each by one task.
constexpr int64_t kTasks = 16;

/// Keys, or values, of all heads, packed.
class Packed {
 public:
  enum class As { outputs, inputs };

  Packed(const AttentionRows& of, int64_t first_head, As as)
      : of_(of),
        from_(of.rows + first_head * of.dim),
        as_(as),
        head_size_(as == As::outputs ? panel_floats(of.tokens, of.dim)
                                     : panel_floats(of.dim, of.tokens)),
        panels_(floats(of.kv_heads * head_size_)) {}

  void pack(int64_t head) {
    const float* const from = from_ + head * of_.dim;
    float* const to = panels_.get() + head * head_size_;
    if (as_ == As::outputs) {
      pack_rows(from, of_.tokens, of_.dim, of_.width(), to);
    } else {
      pack_columns(from, of_.dim, of_.tokens, of_.width(), to);
    }
  }
  /// Of tokens as outputs: y [rows, count] = x [rows, dim] times the first `count` tokens.
  /// Of tokens as inputs: y [rows, dim] = x [rows, count] times them.
  void multiply(int64_t head, int64_t count, int64_t rows, const float* x, int64_t x_stride,
                float* y, int64_t y_stride) const {
    PanelProduct product = {.panels = panels_.get() + head * head_size_,
                            .x = x,
                            .y = y,
                            .rows = rows,
                            .inputs = of_.dim,
                            .outputs = count,
                            .x_stride = x_stride,
                            .y_stride = y_stride};
    if (as_ == As::outputs) return dense_kernels().multiply(product);
    for (int64_t output = 0; output < of_.dim; output += kPanelWidth) {
      for (int64_t first = 0; first < count; first += kPartKeys) {
        product.panels =
            panels_.get() + head * head_size_ + output * of_.tokens + first * kPanelWidth;
        product.x = x + first;
        product.y = y + output;
        product.inputs = std::min(kPartKeys, count - first);
        product.outputs = std::min(kPanelWidth, of_.dim - output);
        product.add = first > 0;
        dense_kernels().multiply(product);
      }
    }
  }

 private:
  const AttentionRows& of_;
  const float* from_;
  As as_;
  int64_t head_size_;
  Floats panels_;
};

/// Queries of a head that are computed at once, and the keys that the last of them sees.
struct Block {
  Block(const AttentionRows& of, int64_t index)
      : first(index * kQueries),
        rows(std::min(kQueries, of.tokens - first)),
        keys(first + rows),
        stride(panels_of(keys) * kPanelWidth) {}

  int64_t first;
  int64_t rows;
  int64_t keys;
  int64_t stride;  ///< of scores
};

class CausalPass {
 public:
  explicit CausalPass(const AttentionRows& of)
      : of_(of),
        scale_(static_cast<float>(1 / std::sqrt(static_cast<double>(of.dim)))),
        keys_(of, of.heads, Packed::As::outputs) {}

 protected:
  const float* queries(int64_t head, const Block& block) const {
    return of_.rows + block.first * of_.width() + head * of_.dim;
  }
  int64_t shared_head(int64_t head) const { return head / (of_.heads / of_.kv_heads); }
  int64_t blocks() const { return (of_.tokens + kQueries - 1) / kQueries; }

  /// How much of each key a block's queries take: [rows, stride].
  void share(int64_t head, const Block& block, float* shares) const {
    keys_.multiply(shared_head(head), block.stride, block.rows, queries(head, block), of_.width(),
                   shares, block.stride);
    for (int64_t row = 0; row < block.rows; ++row) {
      dense_kernels().softmax(shares + row * block.stride, 1, block.first + row + 1, block.stride,
                              scale_);
    }
  }

  const AttentionRows& of_;
  float scale_;
  Packed keys_;
};

class Forward : CausalPass {
 public:
  Forward(const AttentionRows& of, float* out)
      : CausalPass(of), values_(of, of.heads + of.kv_heads, Packed::As::inputs), out_(out) {}

  void run(const ForItems& for_items) {
    for_items(of_.kv_heads, [&](int64_t head) {
      keys_.pack(head);
      values_.pack(head);
    });
    // The longest first.
    for_tasks(for_items, of_.heads * blocks(), [&](int64_t task) {
      attend(task % of_.heads, Block(of_, blocks() - 1 - task / of_.heads));
    });
  }

 private:
  void attend(int64_t head, const Block& block) const {
    const int64_t size = block.rows * block.stride;
    float* const shares = Scratch(size).take(size);
    share(head, block, shares);
    values_.multiply(shared_head(head), block.keys, block.rows, shares, block.stride,
                     out_ + block.first * of_.heads * of_.dim + head * of_.dim,
                     of_.heads * of_.dim);
  }

  Packed values_;
  float* out_;
};

/// The blocks of each head of keys are dealt to `parts_` tasks, each with sums of its own.
class Backward : CausalPass {
 public:
  Backward(const AttentionRows& of, const float* above, float* gradients)
      : CausalPass(of),
        key_inputs_(of, of.heads, Packed::As::inputs),
        values_(of, of.heads + of.kv_heads, Packed::As::outputs),
        above_(above),
        gradients_(gradients),
        parts_((kTasks + of.kv_heads - 1) / of.kv_heads),
        sum_stride_(panels_of(of.tokens) * kPanelWidth),
        sums_(floats(of.kv_heads * parts_ * 2 * of.dim * sum_stride_)) {}

  void run(const ForItems& for_items) {
    for_items(of_.kv_heads, [&](int64_t head) {
      keys_.pack(head);
      key_inputs_.pack(head);
      values_.pack(head);
    });
    for_tasks(for_items, of_.kv_heads * parts_,
              [&](int64_t task) { run_part(task / parts_, task % parts_); });
    for_items(of_.kv_heads * 2, [&](int64_t task) { add_up(task / 2, task % 2); });
  }

 private:
  /// Gradients [dim, tokens] of a head's keys (0) or values (1) from one part.
  float* sum(int64_t head, int64_t part, int64_t what) const {
    return sums_.get() + ((head * parts_ + part) * 2 + what) * of_.dim * sum_stride_;
  }

  void run_part(int64_t kv_head, int64_t part) const {
    std::fill_n(sum(kv_head, part, 0), 2 * of_.dim * sum_stride_, 0.0F);
    const int64_t sharing = of_.heads / of_.kv_heads;
    for (int64_t index = 0; index < blocks(); ++index) {
      // There and back again, so that all parts have as many keys.
      const int64_t turn = index % (2 * parts_);
      if (turn != part && turn != 2 * parts_ - 1 - part) continue;
      for (int64_t i = 0; i < sharing; ++i) {
        run_block(kv_head * sharing + i, Block(of_, index), sum(kv_head, part, 0),
                  sum(kv_head, part, 1));
      }
    }
  }

  void run_block(int64_t head, const Block& block, float* of_keys, float* of_values) const {
    const int64_t size = block.rows * block.stride;
    Scratch scratch(3 * size + block.rows * of_.dim);
    float* const shares = scratch.take(size);
    float* const of_scores = scratch.take(size);
    float* const panels = scratch.take(size);
    float* const turned = scratch.take(block.rows * of_.dim);
    const int64_t above_stride = of_.heads * of_.dim;
    const float* const above = above_ + block.first * above_stride + head * of_.dim;
    share(head, block, shares);
    add_product(above, above_stride, shares, block, turned, panels, of_values);
    values_.multiply(shared_head(head), block.stride, block.rows, above, above_stride, of_scores,
                     block.stride);
    dense_kernels().softmax_gradient(shares, of_scores, block.rows, block.stride, scale_);
    add_product(queries(head, block), of_.width(), of_scores, block, turned, panels, of_keys);
    key_inputs_.multiply(shared_head(head), block.keys, block.rows, of_scores, block.stride,
                         gradients_ + block.first * of_.width() + head * of_.dim, of_.width());
  }

  /// sums [dim, tokens] += x^T weights, of a block's x [rows, dim] and weights [rows, stride].
  void add_product(const float* x, int64_t x_stride, const float* weights, const Block& block,
                   float* turned, float* panels, float* sums) const {
    for (int64_t row = 0; row < block.rows; ++row) {
      for (int64_t i = 0; i < of_.dim; ++i) turned[i * block.rows + row] = x[row * x_stride + i];
    }
    pack_columns(weights, block.stride, block.rows, block.stride, panels);
    dense_kernels().multiply({.panels = panels,
                              .x = turned,
                              .y = sums,
                              .rows = of_.dim,
                              .inputs = block.rows,
                              .outputs = block.stride,
                              .x_stride = block.rows,
                              .y_stride = sum_stride_,
                              .add = true});
  }

  void add_up(int64_t head, int64_t what) const {
    float* const to = gradients_ + (of_.heads + what * of_.kv_heads + head) * of_.dim;
    float added[kPanelWidth];
    for (int64_t first = 0; first < of_.tokens; first += kPanelWidth) {
      const int64_t count = std::min(kPanelWidth, of_.tokens - first);
      for (int64_t i = 0; i < of_.dim; ++i) {
        std::fill_n(added, kPanelWidth, 0.0F);
        for (int64_t part = 0; part < parts_; ++part) {
          const float* const from = sum(head, part, what) + i * sum_stride_ + first;
          for (int64_t j = 0; j < kPanelWidth; ++j) added[j] += from[j];
        }
        for (int64_t j = 0; j < count; ++j) to[(first + j) * of_.width() + i] = added[j];
      }
    }
  }

  Packed key_inputs_;
  Packed values_;
  const float* above_;
  float* gradients_;
  int64_t parts_;
  int64_t sum_stride_;
  Floats sums_;
};

}  // namespace

void attend_causally(const AttentionRows& tokens, float* out, const ForItems& for_items) {
  Forward(tokens, out).run(for_items);
}

void attend_causally_back(const AttentionRows& tokens, const float* above, float* gradients,
                          const ForItems& for_items) {
  Backward(tokens, above, gradients).run(for_items);
}

}  // namespace qfs::kernels
