// What config.json says in the two ways that transformers 4 and 5 write it, under one name each.
//
// Called by loaders of architectures, which read the keys of their own from the ConfigObject. Pure;
// thread-safe. Sources: configuration files of transformers 4.46 and 5.23 (`rope_theta` and
// `rope_scaling` became `rope_parameters`, `torch_dtype` became `dtype`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/checkpoints/config_object.h"

namespace qfs::checkpoints {

/// Rotary position embedding. Fields that a kind does not use keep their defaults.
struct RopeConfig {
  std::string type = "default";  ///< default, linear, dynamic, yarn, longrope, llama3, …
  double theta = 10000;
  double factor = 1;
  bool factor_of_lengths = false;  ///< yarn: it is the longest text over original_context
  double partial_rotary_factor = 1;
  std::optional<int64_t> original_context;  ///< original_max_position_embeddings
  std::optional<double> low_freq_factor;
  std::optional<double> high_freq_factor;
  std::optional<double> attention_factor;
  std::optional<double> beta_fast;
  std::optional<double> beta_slow;
  std::optional<double> mscale;  ///< of yarn's attention factor, if both are given
  std::optional<double> mscale_all_dim;
  bool truncate = true;  ///< yarn's ramp begins and ends at whole dimensions
  std::vector<double> long_factor;
  std::vector<double> short_factor;
};

struct ModelIdentity {
  std::string model_type;                   ///< "llama", "bart", "led", …
  std::vector<std::string> architectures;   ///< class names; may be empty
  std::string dtype;                        ///< "bfloat16", …; empty when not said
  std::optional<bool> tie_word_embeddings;  ///< the default depends on the architecture
};

/// `data` when `model_type` is missing.
Result<ModelIdentity> read_model_identity(const ConfigObject& config);

/// `default_theta` is the architecture's own. `data`: a value is impossible.
Result<RopeConfig> read_rope_config(const ConfigObject& config, double default_theta = 10000);

}  // namespace qfs::checkpoints
