#include "methods/models/nn/windowed/attention_part.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/logaddexp.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>

#include <cmath>
#include <limits>

namespace qfs::backbones {

namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

/// exp(values - log_sum), 0 where both are -inf.
at::Tensor shares(const at::Tensor& values, const at::Tensor& log_sum) {
  return (values - log_sum.masked_fill(log_sum == kNothing, 0)).exp();
}

}  // namespace

AttentionPart attend_to(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                        const at::Tensor& seen) {
  const auto type = queries.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const double scale = 1 / std::sqrt(static_cast<double>(queries.size(3)));
  const at::Tensor scores = at::matmul(queries.to(type) * scale, keys.to(type).transpose(2, 3))
                                .masked_fill(seen.logical_not(), kNothing);
  const at::Tensor log_sum_exp = at::logsumexp(scores, {-1});
  return {at::matmul(shares(scores, log_sum_exp.unsqueeze(-1)), values.to(type)), log_sum_exp};
}

AttentionPart merged(const AttentionPart& a, const AttentionPart& b) {
  const at::Tensor both = at::logaddexp(a.log_sum_exp, b.log_sum_exp);
  const auto weighted = [&](const AttentionPart& part) {
    return part.output * shares(part.log_sum_exp, both).unsqueeze(-1);
  };
  return {weighted(a) + weighted(b), both};
}

AttentionPart joined(const std::vector<AttentionPart>& parts) {
  std::vector<at::Tensor> outputs;
  std::vector<at::Tensor> log_sums;
  for (const AttentionPart& part : parts) {
    outputs.push_back(part.output);
    log_sums.push_back(part.log_sum_exp);
  }
  return {at::cat(outputs, 2), at::cat(log_sums, 2)};
}

}  // namespace qfs::backbones
