// LoRA adapters as Hugging Face's peft keeps them: adapter_config.json and
// adapter_model.safetensors in a folder, or the second file alone.
//
// Read and written by methods with adapters. A file of somebody else is checked: what is not
// computed here (DoRA, biases, further trained modules …) is `unavailable` by its name; `data`: a
// rule of the format is broken. Plain data and functions; thread-safe. Source: peft 0.18,
// LoraConfig and save_pretrained.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/nn/adapters.h"
#include "methods/models/peft/infini.h"

namespace qfs::peft {

struct LoraConfig {
  int64_t rank = 8;
  double alpha = 8;          ///< what is added is multiplied by alpha / rank
  bool rank_stable = false;  ///< by alpha / sqrt(rank) instead (Kalajdzievski 2023)
  /// Layers: whole names, or what follows a dot at their end ("q_proj", "attn.c_proj").
  std::vector<std::string> targets;

  double scale() const;
};

struct LoraAdapter {
  LoraConfig config;
  nn::LowRankByName layers;   ///< float32 on the CPU; names as in the file, or the decoder's
  InfiniTensors memory = {};  ///< in the same file, where the adapter was trained with one
  /// Of adapter_model.safetensors ("qfs.method" …).
  std::map<std::string, std::string> metadata;
};

/// The matrices of an adapter by "LAYER.lora_A.weight" and "LAYER.lora_B.weight".
std::map<std::string, at::Tensor> matrices_of(const LoraAdapter& adapter);
/// Puts others in their place: leaves that are trained.
void replace_matrices(const std::map<std::string, at::Tensor>& matrices, LoraAdapter& adapter);

/// The linear layers of a model that may be adapted.
struct AdaptableLayers {
  std::vector<nn::AdapterTarget> matrices;
  std::string prefix;  ///< what stands before their names where a model has a head
};
AdaptableLayers adaptable_layers(const nn::Decoder& decoder);

/// Layers that targets choose, in the order of the weights; `not_found` for a target that chooses
/// none, with the nearest.
Result<std::vector<std::string>> chosen_layers(const AdaptableLayers& layers,
                                               std::span<const std::string> targets);

/// Targets that stand where none are given: of a decoder projections of attention, and of the MLP
/// the first without its gate; of an encoder the same.
std::vector<std::string> default_targets(const AdaptableLayers& layers);

/// New adapters for layers: A uniform below 1 / sqrt(inputs) (as torch initializes a linear layer),
/// B zero. A pure function of seed and names.
Result<LoraAdapter> new_lora(const AdaptableLayers& layers, const LoraConfig& config,
                             uint64_t seed);

/// `path`: a folder, or the file of tensors.
Result<LoraAdapter> read_lora(const std::string& path);

/// Puts the values of another adapter of the same layers, shapes and scale into `adapter`, whose
/// names are a decoder's; those of its memory where both have one. `invalid_argument` says where
/// they differ; `source` names the other.
Status begin_with(const LoraAdapter& other, const std::string& source, LoraAdapter& adapter);

inline constexpr std::string_view kLoraTensors = "adapter_model.safetensors";
inline constexpr std::string_view kLoraConfig = "adapter_config.json";

/// Both files of an adapter.
struct LoraFiles {
  std::string tensors;
  std::string config;
};

/// Of an adapter whose names are the decoder's; matrices are rounded to `type` (float32 or
/// bfloat16). Equal adapters give equal bytes.
LoraFiles lora_files(const LoraAdapter& adapter, const nn::Decoder& decoder, at::ScalarType type);

}  // namespace qfs::peft
