#include "methods/models/checkpoints/model_config.h"

#include <initializer_list>

namespace qfs::checkpoints {

namespace {

/// A positive number, when the key is there.
Status read_positive(const ConfigObject& object, std::string_view key, double& out) {
  if (!object.has(key)) return {};
  const Result<double> value = object.real(key);
  if (!value.ok()) return value.error();
  if (*value <= 0) return data_error("the value is not positive", object.place(key));
  out = *value;
  return {};
}

Status read_optional(const ConfigObject& object, std::string_view key, std::optional<double>& out) {
  if (!object.has(key)) return {};
  double value = 0;
  Status status = read_positive(object, key, value);
  if (status.ok()) out = value;
  return status;
}

Status read_original_context(const ConfigObject& object, RopeConfig& rope) {
  constexpr std::string_view kOriginal = "original_max_position_embeddings";
  if (!object.has(kOriginal)) return {};
  const Result<int64_t> context = object.integer(kOriginal, 1, int64_t{1} << 31);
  if (!context.ok()) return context.error();
  rope.original_context = *context;
  return {};
}

/// Keys without which a kind means nothing; transformers refuses files that leave one out.
Status check_rope_keys(const ConfigObject& object, const std::string& type) {
  std::vector<std::string_view> required;
  if (type == "linear" || type == "dynamic" || type == "yarn") required = {"factor"};
  if (type == "llama3") required = {"factor", "low_freq_factor", "high_freq_factor"};
  for (const std::string_view key : required) {
    // Of yarn, null asks for the ratio of the lengths.
    if (type == "yarn" ? object.mentions(key) : object.has(key)) continue;
    return data_error("RoPE scaling '" + type + "' needs '" + std::string(key) + "'",
                      object.place(key));
  }
  return {};
}

Status read_rope_object(const ConfigObject& object, RopeConfig& rope) {
  // "type" is how files older than transformers 4.43 say "rope_type".
  const Result<std::string> type =
      object.text_or(object.has("rope_type") ? "rope_type" : "type", rope.type);
  if (!type.ok()) return type.error();
  rope.type = *type;
  if (Status status = check_rope_keys(object, *type); !status.ok()) return status;
  rope.factor_of_lengths = *type == "yarn" && !object.has("factor");
  struct Real {
    std::string_view key;
    double& value;
  };
  for (const auto& [key, value] :
       std::initializer_list<Real>{{"rope_theta", rope.theta},
                                   {"factor", rope.factor},
                                   {"partial_rotary_factor", rope.partial_rotary_factor}}) {
    if (Status status = read_positive(object, key, value); !status.ok()) return status;
  }
  struct Optional {
    std::string_view key;
    std::optional<double>& value;
  };
  for (const auto& [key, value] :
       std::initializer_list<Optional>{{"low_freq_factor", rope.low_freq_factor},
                                       {"high_freq_factor", rope.high_freq_factor},
                                       {"attention_factor", rope.attention_factor},
                                       {"beta_fast", rope.beta_fast},
                                       {"beta_slow", rope.beta_slow},
                                       {"mscale", rope.mscale},
                                       {"mscale_all_dim", rope.mscale_all_dim}}) {
    if (Status status = read_optional(object, key, value); !status.ok()) return status;
  }
  const Result<bool> truncate = object.boolean_or("truncate", rope.truncate);
  if (!truncate.ok()) return truncate.error();
  rope.truncate = *truncate;
  if (Status status = read_original_context(object, rope); !status.ok()) return status;
  for (auto* list : {&rope.long_factor, &rope.short_factor}) {
    const Result<std::vector<double>> values =
        object.reals(list == &rope.long_factor ? "long_factor" : "short_factor");
    if (!values.ok()) return values.error();
    *list = *values;
  }
  return {};
}

}  // namespace

Result<ModelIdentity> read_model_identity(const ConfigObject& config) {
  ModelIdentity identity;
  const Result<std::string> type = config.text("model_type");
  if (!type.ok()) return type.error();
  identity.model_type = *type;
  const Result<std::vector<std::string>> architectures = config.texts("architectures");
  if (!architectures.ok()) return architectures.error();
  identity.architectures = *architectures;
  const Result<std::string> dtype =
      config.text_or(config.has("dtype") ? "dtype" : "torch_dtype", "");
  if (!dtype.ok()) return dtype.error();
  identity.dtype = *dtype;
  if (config.has("tie_word_embeddings")) {
    const Result<bool> tied = config.boolean("tie_word_embeddings");
    if (!tied.ok()) return tied.error();
    identity.tie_word_embeddings = *tied;
  }
  return identity;
}

Result<RopeConfig> read_rope_config(const ConfigObject& config, double default_theta) {
  RopeConfig rope;
  rope.theta = default_theta;
  for (const auto& [key, value] : {std::pair<std::string_view, double*>{"rope_theta", &rope.theta},
                                   {"partial_rotary_factor", &rope.partial_rotary_factor}}) {
    if (Status status = read_positive(config, key, *value); !status.ok()) return status.error();
  }
  // transformers 5 writes both kinds of values into rope_parameters; a rope_scaling beside it
  // stands for all of it.
  for (const std::string_view key : {"rope_scaling", "rope_parameters"}) {
    const Result<std::optional<ConfigObject>> object = config.object(key);
    if (!object.ok()) return object.error();
    if (!*object || (*object)->keys().empty()) continue;
    if (Status status = read_rope_object(**object, rope); !status.ok()) return status.error();
    break;
  }
  if (rope.type == "llama3" || rope.type == "yarn") {
    if (Status status = read_original_context(config, rope); !status.ok()) return status.error();
  }
  return rope;
}

}  // namespace qfs::checkpoints
