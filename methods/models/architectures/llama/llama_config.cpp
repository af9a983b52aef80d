#include "methods/models/architectures/llama/llama_config.h"

#include <cmath>
#include <string>

namespace qfs::architectures {

namespace {

using checkpoints::GgufFile;

/// Reads integers with a range; the first failure is kept and later reads give 1.
class MetadataReader {
 public:
  explicit MetadataReader(const GgufFile& file) : file_(file) {}

  int64_t integer(const std::string& key, int64_t maximum) {
    return checked(key, file_.integer(key), maximum);
  }
  int64_t integer_or(const std::string& key, int64_t maximum, int64_t fallback) {
    return file_.find(key) == nullptr ? fallback : integer(key, maximum);
  }
  double real_or(const std::string& key, double fallback) {
    if (file_.find(key) == nullptr) return fallback;
    const Result<double> value = file_.real(key);
    if (!value.ok()) return fail(value.error()), fallback;
    if (!std::isfinite(*value) || *value <= 0) fail(data_error(place(key) + " is not positive"));
    return *value;
  }
  void fail(Error error) {
    if (status_.ok()) status_ = std::move(error);
  }
  std::string place(const std::string& key) const {
    return "metadata key '" + key + "' of '" + file_.path() + "'";
  }
  const Status& status() const { return status_; }

 private:
  int64_t checked(const std::string& key, const Result<int64_t>& value, int64_t maximum) {
    if (!value.ok()) return fail(value.error()), 1;
    if (*value >= 1 && *value <= maximum) return *value;
    fail(data_error(place(key) + " is " + std::to_string(*value) + ", outside 1.." +
                    std::to_string(maximum)));
    return 1;
  }

  const GgufFile& file_;
  Status status_;
};

Status check_features(const GgufFile& file) {
  const Result<std::string_view> architecture = file.text("general.architecture");
  if (!architecture.ok()) return architecture.error();
  if (*architecture != "llama") {
    return unavailable("'" + file.path() + "' has the architecture '" + std::string(*architecture) +
                       "'; this program has 'llama'");
  }
  if (file.find("llama.rope.scaling.type") != nullptr) {
    const Result<std::string_view> type = file.text("llama.rope.scaling.type");
    if (!type.ok()) return type.error();
    if (*type != "none") {
      return unavailable("'" + file.path() + "' uses RoPE scaling '" + std::string(*type) +
                         "', which this program does not compute");
    }
  }
  const Result<std::optional<int64_t>> experts = file.optional_integer("llama.expert_count");
  if (!experts.ok()) return experts.error();
  if (experts->value_or(0) > 0) {
    return unavailable("'" + file.path() + "' is a mixture of experts, which this program lacks");
  }
  return {};
}

}  // namespace

Result<LlamaConfig> read_llama_config(const GgufFile& file) {
  if (Status status = check_features(file); !status.ok()) return status.error();
  constexpr int64_t kMaxWidth = 1 << 20;
  MetadataReader reader(file);
  LlamaConfig config;
  config.layers = reader.integer("llama.block_count", 4096);
  config.hidden = reader.integer("llama.embedding_length", kMaxWidth);
  config.intermediate = reader.integer("llama.feed_forward_length", kMaxWidth);
  config.heads = reader.integer("llama.attention.head_count", 65536);
  config.kv_heads = reader.integer_or("llama.attention.head_count_kv", 65536, config.heads);
  config.context = reader.integer("llama.context_length", int64_t{1} << 24);
  config.head_dim =
      reader.integer_or("llama.attention.key_length", 4096, config.hidden / config.heads);
  config.rms_eps =
      static_cast<float>(reader.real_or("llama.attention.layer_norm_rms_epsilon", 1e-5));
  config.rope.theta = reader.real_or("llama.rope.freq_base", 10000);
  const int64_t rotated = reader.integer_or("llama.rope.dimension_count", 4096, config.head_dim);
  const int64_t value_dim =
      reader.integer_or("llama.attention.value_length", 4096, config.head_dim);
  const Result<std::span<const std::string_view>> pieces = file.texts("tokenizer.ggml.tokens");
  if (!pieces.ok()) return pieces.error();
  config.vocabulary = static_cast<int64_t>(pieces->size());
  if (!reader.status().ok()) return reader.status().error();

  if (config.heads % config.kv_heads != 0 || config.head_dim < 2 || config.head_dim % 2 != 0 ||
      config.vocabulary < 1) {
    return data_error("'" + file.path() + "' has impossible attention shapes: " +
                      std::to_string(config.heads) + " heads, " + std::to_string(config.kv_heads) +
                      " key heads, " + std::to_string(config.head_dim) + " dimensions a head");
  }
  if (rotated != config.head_dim || value_dim != config.head_dim) {
    return unavailable("'" + file.path() +
                       "' rotates a part of a head or has values of another width than keys");
  }
  return config;
}

}  // namespace qfs::architectures
