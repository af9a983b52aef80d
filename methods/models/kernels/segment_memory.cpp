#include "methods/models/kernels/segment_memory.h"

#include <algorithm>
#include <cmath>

#include "methods/models/kernels/dense_kernels.h"
#include "methods/models/kernels/memory_loops.h"
#include "methods/models/kernels/negative_exp.h"

namespace qfs::kernels {

namespace {

/// Tokens of a task, a multiple of the kernels' rows.
constexpr int64_t kRows = 48;

/// Of what cut() gives.
inline float within(float x) { return std::fabs(x) <= kMost ? 1.0F : 0.0F; }

constexpr int64_t kLanes = 16;

template <class Term>
[[gnu::always_inline]] inline float sum_of(int64_t count, const Term& term) {
  float sums[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t j = 0; j < kLanes; ++j) sums[j] += term(i + j);
  }
  for (int64_t j = 0; i + j < count; ++j) sums[j] += term(i + j);
  float sum = 0;
  for (const float lane : sums) sum += lane;
  return sum;
}

/// ELU(x) + 1 of rows `stride` floats apart, beside one another.
QFS_VECTORS void sigma(const float* __restrict from, int64_t rows, int64_t dim, int64_t stride,
                       float* __restrict to) {
  for (int64_t row = 0; row < rows; ++row, from += stride, to += dim) {
    for (int64_t i = 0; i < dim; ++i) {
      to[i] = negative_exp(std::min(from[i], 0.0F)) + std::max(from[i], 0.0F);
    }
  }
}

QFS_VECTORS float dot(const float* __restrict a, const float* __restrict b, int64_t dim) {
  return sum_of(dim, [&](int64_t i) { return a[i] * b[i]; });
}

/// Sums of products of one token, divided by what weighs them.
QFS_VECTORS void divide(float* __restrict sums, float by, int64_t dim) {
  for (int64_t i = 0; i < dim; ++i) sums[i] /= by;
}

/// y [rows, outputs] (+)= x [rows, inputs] times what is packed.
void multiply(const float* panels, const float* x, int64_t rows, int64_t inputs, int64_t outputs,
              float* y, bool add = false) {
  dense_kernels().multiply({.panels = panels,
                            .x = x,
                            .y = y,
                            .rows = rows,
                            .inputs = inputs,
                            .outputs = outputs,
                            .x_stride = inputs,
                            .y_stride = outputs,
                            .add = add});
}

int64_t blocks_of(int64_t tokens) { return (tokens + kRows - 1) / kRows; }

/// Of the floats that heads have `each` of, those of one.
const float* at_head(const float* heads, int64_t head, int64_t each) {
  return heads == nullptr ? nullptr : heads + head * each;
}

int64_t shared_head(const MemoryHeads& of, int64_t head) { return head / (of.heads / of.kv_heads); }

/// One matrix of a memory as it takes in what leaves: M of a head of keys, or M_query of one of
/// queries, where `relevance` of its tokens is.
class Writing {
 public:
  Writing(const MemoryHeads& of, const LeavingTokens& leaving, int64_t kv_head, const float* matrix,
          const float* relevance)
      : leaving_(leaving),
        dim_(of.dim),
        stride_(of.kv_heads * of.dim),
        keys_(leaving.keys + kv_head * dim_),
        values_(leaving.values + kv_head * dim_),
        norm_(at_head(leaving.before.norm, kv_head, dim_)),
        before_(matrix),
        relevance_(relevance) {}

  /// `norm`: the sum of keys goes there, if it is asked for.
  void run(float* after, float* norm) const {
    const int64_t panel = panel_floats(dim_, std::max(dim_, kRows));
    Scratch scratch(2 * panel + 4 * kRows * dim_);
    float* const read_panels = scratch.take(panel);
    float* const panels = scratch.take(panel);
    float* const rows = scratch.take(kRows * dim_);
    float* const turned = scratch.take(kRows * dim_);
    float* const fresh = scratch.take(kRows * dim_);
    float* const read = scratch.take(kRows * dim_);
    const bool less = leaving_.delta && before_ != nullptr;
    if (less) pack_columns(before_, dim_, dim_, dim_, read_panels);
    put(before_, dim_ * dim_, after);
    if (norm != nullptr) put(norm_, dim_, norm);
    for (int64_t first = 0; first < leaving_.tokens; first += kRows) {
      const int64_t count = std::min(kRows, leaving_.tokens - first);
      sigma(keys_ + first * stride_, count, dim_, stride_, rows);
      take_values(first, count, fresh);
      if (less) {
        multiply(read_panels, rows, count, dim_, dim_, read);
        subtract(rows, read, count, fresh);
      }
      for (int64_t row = 0; row < count; ++row) {
        for (int64_t i = 0; i < dim_; ++i) turned[i * count + row] = rows[row * dim_ + i];
      }
      pack_columns(fresh, dim_, count, dim_, panels);
      multiply(panels, turned, dim_, count, dim_, after, true);
      if (norm == nullptr) continue;
      for (int64_t row = 0; row < count; ++row) {
        for (int64_t i = 0; i < dim_; ++i) norm[i] += rows[row * dim_ + i];
      }
    }
    bound(dim_ * dim_, after);
    if (norm != nullptr) bound(dim_, norm);
  }

 private:
  static void put(const float* from, int64_t count, float* to) {
    if (from == nullptr) {
      std::fill_n(to, count, 0.0F);
    } else {
      std::copy_n(from, count, to);
    }
  }
  static void bound(int64_t count, float* values) {
    for (int64_t i = 0; i < count; ++i) values[i] = cut(values[i]);
  }

  void take_values(int64_t first, int64_t count, float* fresh) const {
    for (int64_t row = 0; row < count; ++row) {
      const float* const value = values_ + (first + row) * stride_;
      const float matters = relevance_ == nullptr ? 1.0F : relevance_[first + row];
      for (int64_t i = 0; i < dim_; ++i) fresh[row * dim_ + i] = value[i] * matters;
    }
  }

  /// Less what the keys read already.
  void subtract(const float* rows, const float* read, int64_t count, float* fresh) const {
    for (int64_t row = 0; row < count; ++row) {
      const float weight = dot(rows + row * dim_, norm_, dim_);
      for (int64_t i = row * dim_; i < (row + 1) * dim_; ++i) fresh[i] -= read[i] / weight;
    }
  }

  const LeavingTokens& leaving_;
  int64_t dim_;
  int64_t stride_;
  const float* keys_;
  const float* values_;
  const float* norm_;
  const float* before_;
  const float* relevance_;
};

/// The matrices of a memory, packed to be multiplied by rows: M of each head of keys, and behind
/// them M_query of each head.
class PackedMatrices {
 public:
  explicit PackedMatrices(const MemoryReading& reading)
      : dim_(reading.of.dim), kv_heads_(reading.of.kv_heads), each_(panel_floats(dim_, dim_)) {
    count_ = kv_heads_ + (reading.memory.asked == nullptr ? 0 : reading.of.heads);
    panels_ = floats(count_ * each_);
  }

  int64_t count() const { return count_; }
  float* of(int64_t matrix) const { return panels_.get() + matrix * each_; }
  const float* all(int64_t kv_head) const { return of(kv_head); }
  const float* asked(int64_t head) const { return of(kv_heads_ + head); }

 private:
  int64_t dim_;
  int64_t kv_heads_;
  int64_t each_;
  int64_t count_;
  Floats panels_;
};

/// Some tokens of a head.
struct Block {
  Block(const MemoryReading& reading, int64_t task)
      : head(task % reading.of.heads),
        kv_head(shared_head(reading.of, head)),
        first(task / reading.of.heads * kRows),
        rows(std::min(kRows, reading.tokens - first)),
        stride(reading.of.heads * reading.of.dim),
        offset(first * stride + head * reading.of.dim) {}

  int64_t head;
  int64_t kv_head;
  int64_t first;
  int64_t rows;
  int64_t stride;  ///< from a token to the next
  int64_t offset;  ///< of the first token
};

/// What a block's queries read, [rows, dim] each but for weights [rows]; not cut.
struct Read {
  Read(Scratch& scratch, int64_t dim)
      : queries(scratch.take(kRows * dim)),
        all(scratch.take(kRows * dim)),
        asked(scratch.take(kRows * dim)),
        weights(scratch.take(kRows)) {}
  static constexpr int64_t floats(int64_t dim) { return 3 * kRows * dim + kRows; }

  float* queries;  ///< sigma of them
  float* all;
  float* asked;
  float* weights;
};

/// One token of a merge: past = all + gate (asked - all).
struct Shares {
  float memory;  ///< logistic(beta)
  float gate;    ///< 0 where the memory asks nothing
};

QFS_VECTORS void merge(const float* __restrict all, const float* __restrict asked,
                       const float* __restrict local, Shares shares, int64_t dim,
                       float* __restrict out) {
  for (int64_t i = 0; i < dim; ++i) {
    const float past = cut(all[i]) + shares.gate * (cut(asked[i]) - cut(all[i]));
    out[i] = local[i] + shares.memory * (past - local[i]);
  }
}

/// Of cut `asked`.
QFS_VECTORS float gate_score(const float* __restrict asked, const float* __restrict weight,
                             int64_t dim) {
  return sum_of(dim, [&](int64_t i) { return cut(asked[i]) * weight[i]; });
}

/// What both directions do.
class Pass {
 public:
  Pass(const MemoryReading& reading, const ForItems& for_items)
      : reading_(reading), dim_(reading.of.dim), for_items_(for_items), packed_(reading) {}

 protected:
  bool asks() const { return reading_.memory.asked != nullptr; }
  /// As PackedMatrices counts them.
  const float* matrix(int64_t index) const {
    const int64_t of_query = index - reading_.of.kv_heads;
    return of_query < 0 ? reading_.memory.all + index * dim_ * dim_
                        : reading_.memory.asked + of_query * dim_ * dim_;
  }
  void pack(int64_t index) const {
    pack_columns(matrix(index), dim_, dim_, dim_, packed_.of(index));
  }
  int64_t tasks() const { return reading_.of.heads * blocks_of(reading_.tokens); }

  void read(const Block& block, const Read& to) const {
    sigma(reading_.queries + block.offset, block.rows, dim_, block.stride, to.queries);
    multiply(packed_.all(block.kv_head), to.queries, block.rows, dim_, dim_, to.all);
    if (asks()) multiply(packed_.asked(block.head), to.queries, block.rows, dim_, dim_, to.asked);
    const float* const norm = reading_.memory.norm + block.kv_head * dim_;
    for (int64_t row = 0; row < block.rows; ++row) {
      to.weights[row] = dot(to.queries + row * dim_, norm, dim_);
      divide(to.all + row * dim_, to.weights[row], dim_);
      if (asks()) divide(to.asked + row * dim_, to.weights[row], dim_);
    }
  }
  Shares shares(const Block& block, const Read& read, int64_t row) const {
    Shares shares = {logistic(reading_.beta[block.head]), 0};
    if (!asks()) return shares;
    const float score = gate_score(read.asked + row * dim_, reading_.weight, dim_);
    shares.gate = logistic(score + (reading_.bias == nullptr ? 0 : *reading_.bias));
    return shares;
  }
  /// Where there is no M_query, the gate is shut, and anything finite stands for what it gave.
  const float* asked_row(const Read& read, int64_t row) const {
    return (asks() ? read.asked : read.all) + row * dim_;
  }

  const MemoryReading& reading_;
  int64_t dim_;
  const ForItems& for_items_;
  PackedMatrices packed_;
};

class Forward : Pass {
 public:
  using Pass::Pass;

  /// Each matrix is packed for the queries where it is written, and the last is before they read.
  void run(const LeavingTokens& leaving, const WrittenMemory& after, float* merged) const {
    for_tasks(for_items_, packed_.count(), [&](int64_t matrix) {
      write(leaving, after, matrix);
      pack(matrix);
    });
    for_tasks(for_items_, tasks(), [&](int64_t task) {
      const Block block(reading_, task);
      Scratch scratch(Read::floats(dim_));
      const Read found(scratch, dim_);
      read(block, found);
      for (int64_t row = 0; row < block.rows; ++row) {
        const int64_t at = block.offset + row * block.stride;
        merge(found.all + row * dim_, asked_row(found, row), reading_.local + at,
              shares(block, found, row), dim_, merged + at);
      }
    });
  }

 private:
  void write(const LeavingTokens& leaving, const WrittenMemory& after, int64_t matrix) const {
    const MemoryHeads& of = reading_.of;
    const int64_t square = dim_ * dim_;
    if (matrix < of.kv_heads) {
      Writing(of, leaving, matrix, at_head(leaving.before.all, matrix, square), nullptr)
          .run(after.all + matrix * square, after.norm + matrix * dim_);
      return;
    }
    const int64_t head = matrix - of.kv_heads;
    Writing(of, leaving, shared_head(of, head), at_head(leaving.before.asked, head, square),
            leaving.relevance + head * leaving.tokens)
        .run(after.asked + head * square, nullptr);
  }
};

/// Sums over tokens of a task.
struct ScalarSums {
  float beta = 0;
  float bias = 0;
};

/// Gradients of one token: `above` becomes those of what the window gave, `all` and `asked` those
/// of the sums of products that were read. Its part of beta's, and of the gate's score.
QFS_VECTORS ScalarSums merge_back(const float* __restrict above, const float* __restrict local,
                                  Shares shares, const float* __restrict weight, float divisor,
                                  int64_t dim, float* __restrict all, float* __restrict asked,
                                  float* __restrict of_local, float* __restrict of_weight) {
  const float of_gate = weight == nullptr ? 0 : sum_of(dim, [&](int64_t i) {
    return above[i] * (cut(asked[i]) - cut(all[i]));
  });
  const float of_score = shares.memory * of_gate * shares.gate * (1 - shares.gate);
  const float of_beta = sum_of(dim, [&](int64_t i) {
    const float past = cut(all[i]) + shares.gate * (cut(asked[i]) - cut(all[i]));
    return above[i] * (past - local[i]);
  });
  for (int64_t i = 0; i < dim; ++i) of_local[i] = (1 - shares.memory) * above[i];
  if (weight != nullptr) {
    for (int64_t i = 0; i < dim; ++i) of_weight[i] += of_score * cut(asked[i]);
    for (int64_t i = 0; i < dim; ++i) {
      const float given = shares.memory * shares.gate * above[i] + of_score * weight[i];
      asked[i] = given * within(asked[i]) / divisor;
    }
  }
  for (int64_t i = 0; i < dim; ++i) {
    all[i] = shares.memory * (1 - shares.gate) * above[i] * within(all[i]) / divisor;
  }
  return {of_beta * shares.memory * (1 - shares.memory), of_score};
}

/// Back through sigma, whose results are there, and the weights' sum.
QFS_VECTORS void sigma_back(const float* __restrict results, const float* __restrict norm,
                            float of_weight, int64_t dim, const float* __restrict above,
                            float* __restrict out) {
  for (int64_t i = 0; i < dim; ++i) {
    out[i] = (above[i] + of_weight * norm[i]) * std::min(results[i], 1.0F);
  }
}

class Backward : Pass {
 public:
  Backward(const MemoryReading& reading, const float* above, const ReadingGradients& gradients,
           const ForItems& for_items)
      : Pass(reading, for_items),
        turned_(reading),
        above_(above),
        gradients_(gradients),
        sums_(floats(tasks() * (dim_ + 2))) {
    for_tasks(for_items, packed_.count(), [&](int64_t index) {
      pack(index);
      pack_rows(matrix(index), dim_, dim_, dim_, turned_.of(index));
    });
  }

  void run() const {
    for_tasks(for_items_, tasks(), [&](int64_t task) { run_task(task); });
    std::fill_n(gradients_.beta, reading_.of.heads, 0.0F);
    if (gradients_.weight != nullptr) std::fill_n(gradients_.weight, dim_, 0.0F);
    if (gradients_.bias != nullptr) *gradients_.bias = 0;
    for (int64_t task = 0; task < tasks(); ++task) {
      const float* const sums = sums_of(task);
      gradients_.beta[task % reading_.of.heads] += sums[dim_];
      if (gradients_.bias != nullptr) *gradients_.bias += sums[dim_ + 1];
      if (gradients_.weight == nullptr) continue;
      for (int64_t i = 0; i < dim_; ++i) gradients_.weight[i] += sums[i];
    }
  }

 private:
  /// [dim] of w_g, one of beta, one of b_g.
  float* sums_of(int64_t task) const { return sums_.get() + task * (dim_ + 2); }

  void run_task(int64_t task) const {
    const Block block(reading_, task);
    Scratch scratch(Read::floats(dim_) + 2 * dim_ + kRows * (dim_ + 1));
    const Read found(scratch, dim_);
    float* const read_all = scratch.take(dim_);
    float* const read_asked = scratch.take(dim_);
    float* const of_rows = scratch.take(kRows * dim_);
    float* const of_weights = scratch.take(kRows);
    float* const sums = sums_of(task);
    std::fill_n(sums, dim_ + 2, 0.0F);
    read(block, found);
    for (int64_t row = 0; row < block.rows; ++row) {
      const int64_t at = block.offset + row * block.stride;
      float* const all = found.all + row * dim_;
      float* const asked = found.asked + row * dim_;
      const Shares shared = shares(block, found, row);
      std::copy_n(all, dim_, read_all);
      std::copy_n(asked_row(found, row), dim_, read_asked);
      const ScalarSums scalars = merge_back(
          above_ + at, reading_.local + at, shared, asks() ? reading_.weight : nullptr,
          found.weights[row], dim_, all, asks() ? asked : read_asked, gradients_.local + at, sums);
      sums[dim_] += scalars.beta;
      sums[dim_ + 1] += scalars.bias;
      of_weights[row] = -dot(all, read_all, dim_);
      if (asks()) of_weights[row] -= dot(asked, read_asked, dim_);
    }
    multiply(turned_.all(block.kv_head), found.all, block.rows, dim_, dim_, of_rows);
    if (asks()) {
      multiply(turned_.asked(block.head), found.asked, block.rows, dim_, dim_, of_rows, true);
    }
    const float* const norm = reading_.memory.norm + block.kv_head * dim_;
    for (int64_t row = 0; row < block.rows; ++row) {
      sigma_back(found.queries + row * dim_, norm, of_weights[row], dim_, of_rows + row * dim_,
                 gradients_.queries + block.offset + row * block.stride);
    }
  }

  PackedMatrices turned_;
  const float* above_;
  const ReadingGradients& gradients_;
  Floats sums_;
};

}  // namespace

void pass_memory(const LeavingTokens& leaving, const WrittenMemory& after,
                 const MemoryReading& reading, float* merged, const ForItems& for_items) {
  Forward(reading, for_items).run(leaving, after, merged);
}

void pass_memory_back(const MemoryReading& reading, const float* above,
                      const ReadingGradients& gradients, const ForItems& for_items) {
  Backward(reading, above, gradients, for_items).run();
}

}  // namespace qfs::kernels
