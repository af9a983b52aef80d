#include "methods/backbones/encoders/encoder_weights.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

#include "methods/backbones/encoders/encoder_names.h"
#include "methods/backbones/torch_runtime.h"
#include "methods/checkpoints/renamed_checkpoint.h"
#include "methods/checkpoints/tensor_check.h"

namespace qfs::backbones {

namespace {

using checkpoints::Checkpoint;
using checkpoints::ExpectedTensor;

/// The name of the table of words, which some checkpoints keep at another place.
std::string words_name(const Checkpoint& file, const EncoderNames& names) {
  for (const std::string& name : names.words) {
    if (file.find(name + ".weight") != nullptr) return name;
  }
  return names.words.front();
}

/// Every tensor of the encoder, before any is read.
std::vector<ExpectedTensor> expected_tensors(const EncoderConfig& config, const EncoderNames& names,
                                             const std::string& words) {
  std::vector<ExpectedTensor> expected;
  const auto add = [&](const std::string& name, std::vector<int64_t> shape) {
    expected.push_back({name, std::move(shape)});
  };
  const auto add_linear = [&](const std::string& name, int64_t outputs, int64_t inputs) {
    add(name + ".weight", {outputs, inputs});
    add(name + ".bias", {outputs});
  };
  const auto add_norm = [&](const std::string& name) {
    add(name + ".weight", {config.hidden});
    add(name + ".bias", {config.hidden});
  };
  add(words + ".weight", {config.vocabulary, config.hidden});
  add(names.positions + ".weight", {config.position_rows, config.hidden});
  if (config.segments > 0) add(names.segments + ".weight", {config.segments, config.hidden});
  add_norm(names.norm);
  for (int64_t i = 0; i < config.layers; ++i) {
    const EncoderLayerNames layer = names.layer(i);
    for (const std::string& name : {layer.query, layer.key, layer.value, layer.attention_output}) {
      add_linear(name, config.hidden, config.hidden);
    }
    add_norm(layer.attention_norm);
    add_linear(layer.up, config.intermediate, config.hidden);
    add_linear(layer.down, config.hidden, config.intermediate);
    add_norm(layer.output_norm);
  }
  return expected;
}

/// Reads tensors that are known to be there; keeps the first failure.
class TensorReader {
 public:
  explicit TensorReader(const Checkpoint& file) : file_(file) {}

  at::Tensor tensor(const std::string& name) {
    const auto entry = file_.require(name);
    if (!entry.ok()) return keep(entry.error()), at::Tensor();
    at::Tensor values = at::empty((*entry)->shape, at::kFloat);
    const Status read = file_.read(
        **entry, {values.mutable_data_ptr<float>(), static_cast<size_t>((*entry)->elements)});
    if (!read.ok()) keep(read.error());
    return values;
  }
  Linear linear(const std::string& name) {
    return {tensor(name + ".weight"), tensor(name + ".bias")};
  }
  LayerNorm norm(const std::string& name) {
    return {tensor(name + ".weight"), tensor(name + ".bias")};
  }
  const Status& status() const { return status_; }

 private:
  void keep(Error error) {
    if (status_.ok()) status_ = std::move(error);
  }

  const Checkpoint& file_;
  Status status_;
};

Linear below_one_another(const Linear& a, const Linear& b, const Linear& c) {
  return {at::cat({a.weight, b.weight, c.weight}), at::cat({a.bias, b.bias, c.bias})};
}

}  // namespace

Result<std::shared_ptr<const EncoderWeights>> load_encoder_weights(
    const checkpoints::ModelDirectory& directory) {
  using Loaded = Result<std::shared_ptr<const EncoderWeights>>;
  const auto config = read_encoder_config(directory);
  if (!config.ok()) return config.error();
  const EncoderNames& names = encoder_names(config->model_type);
  const auto stored = directory.open_weights();
  if (!stored.ok()) return stored.error();
  const auto file = checkpoints::replace_prefix(*stored, names.prefix, "");
  if (!file.ok()) return file.error();
  const std::string words = words_name(**file, names);
  const auto differences =
      compare_tensors(**file, expected_tensors(*config, names, words), names.others);
  if (Status same = to_status(differences, directory.path()); !same.ok()) return same.error();
  return guarded("loading '" + directory.path() + "'", [&]() -> Loaded {
    auto weights = std::make_shared<EncoderWeights>();
    weights->config = *config;
    TensorReader reader(**file);
    weights->words = reader.tensor(words + ".weight");
    weights->positions = reader.tensor(names.positions + ".weight");
    if (config->segments > 0) weights->segments = reader.tensor(names.segments + ".weight");
    weights->norm = reader.norm(names.norm);
    for (int64_t i = 0; i < config->layers && reader.status().ok(); ++i) {
      const EncoderLayerNames layer = names.layer(i);
      weights->layers.push_back(
          {below_one_another(reader.linear(layer.query), reader.linear(layer.key),
                             reader.linear(layer.value)),
           reader.linear(layer.attention_output), reader.norm(layer.attention_norm),
           reader.linear(layer.up), reader.linear(layer.down), reader.norm(layer.output_norm)});
    }
    if (!reader.status().ok()) return reader.status().error();
    return std::shared_ptr<const EncoderWeights>(std::move(weights));
  });
}

}  // namespace qfs::backbones
