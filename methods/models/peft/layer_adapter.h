// LayerAdapter: what IDEAL and its baselines add to the layers of a LLaMA-type backbone: low-rank
// matrices, parallel adapters of the MLP or prompts, of which a hypernetwork may generate those of
// the last layers. Its tensors by the released names, their shapes, first values, and the adapters
// that they are.
//
// Made by methods from their parameters, or read from a file (layer_adapter_files.h). Plain data
// and pure functions; thread-safe. LibTorch's exceptions pass through. Sources: Cao et al. 2024
// (IDEAL, arXiv 2407.10486) and its release; Zhang et al. 2023 (zero-init attention).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/nn/adapters.h"
#include "methods/models/peft/infini.h"

namespace qfs::peft {

enum class AdapterKind { lora, parallel_adapter, prompt };

/// What of the hypernetwork the generated layers share besides its decoders.
enum class HyperEncoder {
  own,     ///< nothing: each has an encoder of its own
  common,  ///< the encoder, and so all that is generated
  serial,  ///< nothing; and each reads the stream that enters it, not that of the first
};

/// The tokens whose mean is what the hypernetwork reads.
enum class Pooling { instruction, document, all, both };

/// In which the hypernetwork computes. `fp16_as_released`: operands and results are rounded to half
/// precision, by which all that is generated at first is exactly 0.
enum class HyperPrecision { fp32, bf16, fp16_as_released };

struct HyperConfig {
  int64_t layers = 0;  ///< that are generated, the last ones; 0: there is no hypernetwork
  int64_t bottleneck = 64;
  HyperEncoder encoder = HyperEncoder::own;
  Pooling pooling = Pooling::instruction;
  HyperPrecision precision = HyperPrecision::fp32;
  bool detach = true;  ///< no gradients into the stream that is pooled
};

struct LayerAdapterConfig {
  AdapterKind kind = AdapterKind::lora;
  int64_t size = 8;  ///< rank, bottleneck or slots
  /// Of lora, in the order of adapter_targets(); empty: the first five.
  std::vector<std::string> targets;
  int64_t first_layer = 0;
  int64_t bare_layers = 0;  ///< the last ones, without adapters
  bool gate_tanh = true;    ///< of prompts
  HyperConfig hyper;
};

using NamedTensors = std::map<std::string, at::Tensor>;
using NamedShapes = std::map<std::string, std::vector<int64_t>>;

/// A linear layer that low-rank matrices are added to.
struct ReleasedTarget {
  std::string_view name;      ///< of the layer, as targets have it: "q_proj"
  std::string_view layer;     ///< behind "model.layers.N."
  std::string_view released;  ///< of its matrices: "attention.lora_wq"
  std::string_view decoder;   ///< of the hypernetwork: "q_l1"
  int64_t inputs(const nn::LayerWidths& widths) const;
  int64_t outputs(const nn::LayerWidths& widths) const;
};
/// q, k, v, o, up and down.
std::vector<ReleasedTarget> adapter_targets();

/// `invalid_argument`: sizes below 1, unknown targets, or layers that the backbone does not have.
Status check_config(const LayerAdapterConfig& config, const nn::LayerWidths& widths);

/// All tensors of a checked configuration.
NamedShapes tensor_shapes(const LayerAdapterConfig& config, const nn::LayerWidths& widths);
int64_t count_elements(const NamedShapes& shapes);

struct LayerAdapter {
  LayerAdapterConfig config;
  nn::LayerWidths widths;
  NamedTensors tensors;  ///< float32 on the CPU
  std::map<std::string, std::string> metadata = {};
  InfiniTensors memory = {};  ///< in the same file, where the adapter was trained with one
  NamedTensors biases = {};   ///< likewise (trained_biases.h); empty: the backbone's own

  int64_t first_generated() const { return widths.layers - config.hyper.layers; }
  /// "lora_hyper_net." and so on.
  std::string hyper_prefix() const;
};

/// First values as in the release, for a checked configuration. A pure function of seed and names.
LayerAdapter new_layer_adapter(const LayerAdapterConfig& config, const nn::LayerWidths& widths,
                               uint64_t seed);

/// The layers that are not generated.
nn::AdapterSet ordinary_adapters(const LayerAdapter& adapter);

/// One name of what the hypernetwork's decoders make, with the shape of one layer's.
struct GeneratedPart {
  std::string decoder;
  std::vector<int64_t> shape;
  bool bias = false;

  int64_t elements() const;
};
std::vector<GeneratedPart> generated_parts(const LayerAdapterConfig& config,
                                           const nn::LayerWidths& widths);

/// Adds to `set` a generated layer's adapters: `values` by decoder, in the shapes of
/// generated_parts; what of the layer is not generated is taken from `adapter`.
void add_generated(const LayerAdapter& adapter, int64_t layer, const NamedTensors& values,
                   nn::AdapterSet& set);

/// Names of the tensors beside generated ones, which make them matter (B of A, a prompt's gate).
std::vector<std::string> partners_of_generated(const LayerAdapter& adapter);

}  // namespace qfs::peft
