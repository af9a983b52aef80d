#include "methods/models/nn/token_loss.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::nn {

namespace {

using torch::autograd::variable_list;

Status check_labels(std::span<const int64_t> labels, int64_t positions, int64_t vocabulary) {
  if (positions != static_cast<int64_t>(labels.size())) {
    return invalid_argument(std::to_string(labels.size()) + " labels for logits of " +
                            std::to_string(positions) + " positions");
  }
  if (std::ranges::all_of(labels, [](int64_t label) { return label == kNoLabel; })) {
    return invalid_argument("no position has a label");
  }
  for (const int64_t label : labels) {
    if (label != kNoLabel && (label < 0 || label >= vocabulary)) {
      return invalid_argument("label " + std::to_string(label) + " is outside 0.." +
                              std::to_string(vocabulary - 1));
    }
  }
  return {};
}

/// Losses and gradients of rows with a label each, in chunks of `chunk_rows`: [rows].
class HeadLosses final : public torch::autograd::Function<HeadLosses> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& states,
                            const at::Tensor& weight, const std::optional<at::Tensor>& biases,
                            const at::Tensor& labels, double smoothing, int64_t chunk_rows) {
    const at::Tensor bias = biases.value_or(at::Tensor());
    const at::Tensor losses = at::empty({states.size(0)}, states.options().dtype(type_of(states)));
    const bool trains_head = weight.requires_grad();
    at::Tensor gradient;
    if (states.requires_grad() && !trains_head) gradient = at::empty_like(states);
    for_chunks(states, labels, chunk_rows,
               [&](int64_t first, const at::Tensor& read, const at::Tensor& wanted) {
                 at::Tensor logits = nn::apply(Linear{weight, bias}, read).to(losses.scalar_type());
                 const at::Tensor logarithm = logits.logsumexp(1, true);
                 const at::Tensor at_label = logits.gather(1, wanted);
                 at::Tensor loss = logarithm - at_label;
                 if (smoothing > 0) loss += (at_label - logits.mean(1, true)) * smoothing;
                 losses.narrow(0, first, read.size(0)).copy_(loss.squeeze(1));
                 if (!gradient.defined()) return;
                 const at::Tensor above = to_gradient(logits, logarithm, wanted, smoothing);
                 gradient.narrow(0, first, read.size(0))
                     .copy_(at::matmul(above.to(weight.scalar_type()), weight));
               });
    if (trains_head) {
      context->save_for_backward({gradient, states, weight, bias, labels});
    } else {
      context->save_for_backward({gradient});
    }
    context->saved_data["smoothing"] = smoothing;
    context->saved_data["chunk_rows"] = chunk_rows;
    return losses;
  }

  static variable_list backward(torch::autograd::AutogradContext* context, variable_list upstream) {
    const variable_list kept = context->get_saved_variables();
    if (kept.size() > 1) {
      return with_head(kept, upstream.front(), context->saved_data["smoothing"].toDouble(),
                       context->saved_data["chunk_rows"].toInt());
    }
    const at::Tensor& gradient = kept.front();
    return {
        gradient * upstream.front().to(gradient.scalar_type()).unsqueeze(1), {}, {}, {}, {}, {}};
  }

 private:
  static at::ScalarType type_of(const at::Tensor& states) {
    return states.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  }

  template <class Chunk>
  static void for_chunks(const at::Tensor& states, const at::Tensor& labels, int64_t chunk_rows,
                         const Chunk& chunk) {
    for (int64_t first = 0; first < states.size(0); first += chunk_rows) {
      const int64_t rows = std::min(chunk_rows, states.size(0) - first);
      chunk(first, states.narrow(0, first, rows), labels.narrow(0, first, rows).unsqueeze(1));
    }
  }

  /// Of the losses by the logits, in the logits' place: probabilities, less those that are wanted.
  static at::Tensor to_gradient(at::Tensor& logits, const at::Tensor& logarithm,
                                const at::Tensor& wanted, double smoothing) {
    logits.sub_(logarithm).exp_();
    if (smoothing > 0) logits.sub_(smoothing / static_cast<double>(logits.size(1)));
    return logits.scatter_add_(1, wanted, at::full_like(wanted, smoothing - 1, logits.options()));
  }

  static variable_list with_head(const variable_list& kept, const at::Tensor& upstream,
                                 double smoothing, int64_t chunk_rows) {
    const at::Tensor& states = kept[1];
    const at::Tensor& weight = kept[2];
    const at::Tensor& bias = kept[3];
    const at::ScalarType type = type_of(states);
    const at::Tensor of_states = at::empty_like(states);
    at::Tensor of_weight = at::zeros_like(weight, weight.options().dtype(type));
    at::Tensor of_bias;
    if (bias.defined()) of_bias = at::zeros_like(bias, bias.options().dtype(type));
    for_chunks(states, kept[4], chunk_rows,
               [&](int64_t first, const at::Tensor& read, const at::Tensor& wanted) {
                 at::Tensor logits = nn::apply(Linear{weight, bias}, read).to(type);
                 const at::Tensor logarithm = logits.logsumexp(1, true);
                 const at::Tensor above =
                     to_gradient(logits, logarithm, wanted, smoothing)
                         .mul_(upstream.narrow(0, first, read.size(0)).to(type).unsqueeze(1));
                 of_states.narrow(0, first, read.size(0))
                     .copy_(at::matmul(above.to(weight.scalar_type()), weight));
                 of_weight.addmm_(above.t(), read.to(type));
                 if (of_bias.defined()) of_bias.add_(above.sum(0));
               });
    if (of_bias.defined()) of_bias = of_bias.to(bias.scalar_type());
    return {of_states, of_weight.to(weight.scalar_type()), of_bias, {}, {}, {}};
  }
};

std::optional<at::Tensor> bias_of(const Linear& head) {
  return head.bias.defined() ? std::optional(head.bias) : std::nullopt;
}

/// How many rows of logits are in memory at once.
int64_t rows_of_chunk(const Linear& head, int64_t chunk_bytes) {
  const int64_t row_bytes = head.weight.size(0) * static_cast<int64_t>(sizeof(float));
  return std::max<int64_t>(1, chunk_bytes / row_bytes);
}

}  // namespace

Result<at::Tensor> token_loss(const at::Tensor& logits, std::span<const int64_t> labels) {
  const int64_t positions = logits.dim() == 2 ? logits.size(0) : 0;
  if (Status fine = check_labels(labels, positions, logits.size(-1)); !fine.ok()) {
    return fine.error();
  }
  return guarded("computing a loss", [&]() -> Result<at::Tensor> {
    return at::cross_entropy_loss(logits, at::tensor(labels).to(logits.device()), std::nullopt,
                                  at::Reduction::Mean, kNoLabel);
  });
}

Result<at::Tensor> summed_token_loss(const Linear& head, const at::Tensor& states,
                                     std::span<const int64_t> labels, const HeadLoss& loss) {
  const int64_t vocabulary = head.weight.size(0);
  if (Status fine = check_labels(labels, states.size(0), vocabulary); !fine.ok()) {
    return fine.error();
  }
  return guarded("computing a loss", [&]() -> Result<at::Tensor> {
    std::vector<int64_t> rows;
    std::vector<int64_t> wanted;
    for (size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] == kNoLabel) continue;
      rows.push_back(static_cast<int64_t>(i));
      wanted.push_back(labels[i]);
    }
    const at::Tensor labelled = states.index_select(0, at::tensor(rows).to(states.device()));
    const int64_t chunk = rows_of_chunk(head, loss.chunk_bytes);
    const at::Tensor losses =
        HeadLosses::apply(labelled, head.weight, bias_of(head),
                          at::tensor(wanted).to(states.device()), loss.smoothing, chunk);
    at::Tensor sum = at::zeros({}, losses.options());
    for (int64_t first = 0; first < losses.size(0); first += chunk) {
      sum = sum + losses.narrow(0, first, std::min(chunk, losses.size(0) - first)).sum();
    }
    return sum;
  });
}

Result<at::Tensor> label_log_probabilities(const Linear& head, const at::Tensor& states,
                                           std::span<const int64_t> labels, int64_t chunk_bytes) {
  if (Status fine = check_labels(labels, states.size(0), head.weight.size(0)); !fine.ok()) {
    return fine.error();
  }
  if (std::ranges::count(labels, kNoLabel) > 0) {
    return invalid_argument("a position has no label");
  }
  return guarded("computing a loss", [&]() -> Result<at::Tensor> {
    const at::Tensor wanted =
        at::tensor(at::ArrayRef<int64_t>(labels.data(), labels.size())).to(states.device());
    const at::Tensor weight = unpacked(head, states.size(1)).weight;
    return -HeadLosses::apply(states, weight, bias_of(head), wanted, 0.0,
                              rows_of_chunk(head, chunk_bytes));
  });
}

}  // namespace qfs::nn
