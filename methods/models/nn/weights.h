// A model's weights as its architecture lists them, by their names in checkpoints: one list to know
// what a file must have, to read it, to copy it to a device, to count it.
//
// Implemented by readers (architectures/reading/tensor_reader.h), copy_weights and tests; called by
// the list of an architecture, a function visit(weights, visitor). LibTorch's exceptions pass
// through but where a Result is returned.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/nn/dense.h"
#include "methods/models/nn/model_work.h"

namespace qfs::nn {

/// A layer of a checkpoint that is some rows of a fused one.
struct FusedPart {
  std::string name;
  int64_t outputs = 0;
};

class WeightVisitor {
 public:
  virtual ~WeightVisitor() = default;

  virtual void tensor(const std::string& name, at::Tensor& tensor, std::vector<int64_t> shape) = 0;
  /// One that a file may lack; then it stays as it is.
  virtual void optional(const std::string& name, at::Tensor& tensor,
                        std::vector<int64_t> shape) = 0;
  /// One that is `table`; a file that has it too has a copy.
  virtual void tied(const std::string& name, at::Tensor& tensor, const at::Tensor& table,
                    std::vector<int64_t> shape) = 0;
  /// A linear layer, or several below one another that are computed as one.
  virtual void fused(const std::vector<FusedPart>& parts, Linear& linear, int64_t inputs,
                     bool bias = true) = 0;
  /// A layer that files hold as [inputs, outputs].
  virtual void transposed(const std::string& name, Linear& linear, int64_t outputs,
                          int64_t inputs) = 0;

  void linear(const std::string& name, Linear& linear, int64_t outputs, int64_t inputs,
              bool bias = true) {
    fused({{name, outputs}}, linear, inputs, bias);
  }
  void norm(const std::string& name, LayerNorm& norm, int64_t width) {
    tensor(name + ".weight", norm.weight, {width});
    tensor(name + ".bias", norm.bias, {width});
  }
};

/// Replaces weights on the CPU by copies on a device, rounded to `type` once; what several
/// places share is copied once. `out_of_memory`.
Status copy_weights(at::Device device, at::ScalarType type,
                    const std::function<void(WeightVisitor&)>& visit);

/// Adds a layer's products and bytes to a stack.
void add_layer(std::initializer_list<const Linear*> linears,
               std::initializer_list<const LayerNorm*> norms, int64_t element_bytes,
               LayerStack& stack);

/// The work of a decoder-only model whose tokens pass `layers`; `norm`: in front of the head, whose
/// bytes count with it. `cache_elements`: of one position of a row.
ModelWork decoder_only_work(LayerStack layers, const Linear& head, const LayerNorm& norm,
                            int64_t cache_elements, const ElementBytes& bytes);

/// Elements of linear layers with their biases, and of norms.
int64_t linear_elements(std::initializer_list<const Linear*> layers);
int64_t norm_elements(std::initializer_list<const LayerNorm*> norms);

}  // namespace qfs::nn
