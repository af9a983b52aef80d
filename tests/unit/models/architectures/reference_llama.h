// A LLaMA forward pass written as the papers say it, in double precision, position by position,
// straight from a GGUF file: what llama_test compares the fast one with. Slow; F32 tensors only.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "methods/models/architectures/llama/llama_config.h"
#include "methods/models/checkpoints/gguf.h"

namespace qfs::test {

class ReferenceLlama {
 public:
  explicit ReferenceLlama(const checkpoints::GgufFile& file)
      : file_(file), config_(*architectures::read_llama_config(file)) {}

  /// Logits after the last of `tokens`.
  std::vector<double> logits(const std::vector<int32_t>& tokens) {
    keys_.assign(static_cast<size_t>(config_.layers), {});
    values_ = keys_;
    std::vector<double> x;
    for (size_t position = 0; position < tokens.size(); ++position) {
      const auto embedding = tensor("token_embd.weight");
      const auto begin = embedding.begin() + tokens[position] * config_.hidden;
      x.assign(begin, begin + config_.hidden);
      for (int64_t layer = 0; layer < config_.layers; ++layer) step(layer, position, x);
    }
    const bool tied = !file_.tensor("output.weight").ok();
    return multiply(tied ? "token_embd.weight" : "output.weight", norm("output_norm.weight", x));
  }

 private:
  std::vector<double> tensor(const std::string& name) const {
    const auto* found = *file_.tensor(name);
    std::vector<float> values(static_cast<size_t>(found->elements));
    if (!file_.read(*found, values).ok()) throw std::runtime_error(name);
    return {values.begin(), values.end()};
  }

  std::vector<double> multiply(const std::string& name, const std::vector<double>& x) const {
    const std::vector<double> weight = tensor(name);
    std::vector<double> y(weight.size() / x.size(), 0.0);
    for (size_t i = 0; i < weight.size(); ++i) y[i / x.size()] += weight[i] * x[i % x.size()];
    return y;
  }

  std::vector<double> norm(const std::string& name, const std::vector<double>& x) const {
    const std::vector<double> weight = tensor(name);
    double squares = 0;
    for (double value : x) squares += value * value;
    const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) +
                                       static_cast<double>(config_.rms_eps));
    std::vector<double> y(x.size());
    for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] * scale * weight[i];
    return y;
  }

  /// Su et al. 2021: neighbouring pairs (2i, 2i + 1) are rotated, the layout that GGUF stores.
  void rotate(std::vector<double>& x, size_t position) const {
    const auto dim = static_cast<size_t>(config_.head_dim);
    for (size_t i = 0; i < x.size(); i += 2) {
      const double exponent = -static_cast<double>(i % dim) / static_cast<double>(dim);
      const double angle = static_cast<double>(position) * std::pow(config_.rope.theta, exponent);
      const double first = x[i];
      x[i] = first * std::cos(angle) - x[i + 1] * std::sin(angle);
      x[i + 1] = first * std::sin(angle) + x[i + 1] * std::cos(angle);
    }
  }

  std::vector<double> attend(size_t layer, const std::vector<double>& queries) const {
    const auto dim = static_cast<size_t>(config_.head_dim);
    const auto group = static_cast<size_t>(config_.heads / config_.kv_heads);
    std::vector<double> out(queries.size(), 0.0);
    for (size_t head = 0; head < static_cast<size_t>(config_.heads); ++head) {
      std::vector<double> weights;
      double total = 0;
      for (const auto& key : keys_[layer]) {
        double score = 0;
        for (size_t i = 0; i < dim; ++i)
          score += queries[head * dim + i] * key[head / group * dim + i];
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(dim))));
        total += weights.back();
      }
      for (size_t p = 0; p < weights.size(); ++p) {
        for (size_t i = 0; i < dim; ++i) {
          out[head * dim + i] += weights[p] / total * values_[layer][p][head / group * dim + i];
        }
      }
    }
    return out;
  }

  void step(int64_t index, size_t position, std::vector<double>& x) {
    const auto layer = static_cast<size_t>(index);
    const std::string prefix = "blk." + std::to_string(index) + ".";
    const std::vector<double> normed = norm(prefix + "attn_norm.weight", x);
    std::vector<double> queries = multiply(prefix + "attn_q.weight", normed);
    std::vector<double> keys = multiply(prefix + "attn_k.weight", normed);
    rotate(queries, position);
    rotate(keys, position);
    keys_[layer].push_back(keys);
    values_[layer].push_back(multiply(prefix + "attn_v.weight", normed));
    add(x, multiply(prefix + "attn_output.weight", attend(layer, queries)));
    const std::vector<double> inner = norm(prefix + "ffn_norm.weight", x);
    std::vector<double> gate = multiply(prefix + "ffn_gate.weight", inner);
    const std::vector<double> up = multiply(prefix + "ffn_up.weight", inner);
    for (size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
    add(x, multiply(prefix + "ffn_down.weight", gate));
  }

  static void add(std::vector<double>& x, const std::vector<double>& y) {
    for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  }

  const checkpoints::GgufFile& file_;
  architectures::LlamaConfig config_;
  std::vector<std::vector<std::vector<double>>> keys_;  // [layer][position]
  std::vector<std::vector<std::vector<double>>> values_;
};

}  // namespace qfs::test
