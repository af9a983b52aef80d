#include "methods/models/architectures/gpt2/gpt2_network.h"

#include <utility>

#include "methods/models/architectures/gpt2/gpt2_model.h"
#include "methods/models/architectures/gpt2/gpt2_work.h"

namespace qfs::architectures {

namespace {

constexpr nn::PartWord kWords[] = {{"wte.", "embedding"}, {"wpe.", "embedding"}, {"ln_", "norm"}};

class Gpt2Network final : public nn::Network {
 public:
  explicit Gpt2Network(std::shared_ptr<const Gpt2Weights> weights)
      : weights_(std::move(weights)), shape_(shape_of(weights_->config)) {}

  const nn::SequenceShape& shape() const override { return shape_; }

  Result<std::unique_ptr<nn::SequenceModel>> open(const RuntimeOptions& runtime, const std::string&,
                                                  ResourceCache&) const override {
    if (runtime.device == "cpu" && runtime.dtype == "float32") return make_gpt2_model(weights_);
    return unavailable("GPT-2 is computed on a CPU in float32, not on '" + runtime.device +
                       "' in " + runtime.dtype);
  }

  nn::ModelWork work(const nn::ElementBytes& bytes) const override {
    return gpt2_work(*weights_, bytes);
  }

 private:
  std::shared_ptr<const Gpt2Weights> weights_;
  nn::SequenceShape shape_;
};

}  // namespace

Result<nn::ModelOutline> outline_gpt2_folder(const checkpoints::ModelDirectory& directory) {
  const auto config = read_gpt2_config(directory);
  if (!config.ok()) return config.error();
  return nn::ModelOutline{
      .shape = shape_of(*config), .cache_elements = config->cache_elements(), .words = kWords};
}

Result<std::shared_ptr<const nn::Network>> load_gpt2_folder(
    const checkpoints::ModelDirectory& directory) {
  auto weights = load_gpt2_weights(directory);
  if (!weights.ok()) return weights.error();
  return std::shared_ptr<const nn::Network>(std::make_shared<Gpt2Network>(*std::move(weights)));
}

}  // namespace qfs::architectures
