#include "methods/models/architectures/bart/bart_network.h"

#include <string>
#include <utility>

#include "methods/models/architectures/bart/bart_model.h"
#include "methods/models/architectures/bart/bart_work.h"
#include "methods/models/architectures/bart/device_bart.h"
#include "methods/models/architectures/bart/encoder_input.h"
#include "methods/models/architectures/bart/from_bart.h"
#include "methods/models/kernels/device_loader.h"
#include "methods/models/nn/runtime/device_runtime.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::architectures {

namespace {

class BartNetwork final : public nn::Network {
 public:
  /// `variant` tells copies of weights from those of the checkpoint as it is.
  explicit BartNetwork(std::shared_ptr<const BartWeights> weights, std::string variant = "")
      : weights_(std::move(weights)), variant_(std::move(variant)), shape_(shape_of(*weights_)) {}

  const nn::SequenceShape& shape() const override { return shape_; }

  Result<std::unique_ptr<nn::SequenceModel>> open(const RuntimeOptions& runtime,
                                                  const std::string& digest,
                                                  ResourceCache& cache) const override {
    const bool on_cpu = runtime.device == "cpu";
    if (on_cpu && runtime.dtype == "float32") return make_bart_model(weights_);
    const auto type = nn::element_type_named(runtime.dtype);
    if (!type.ok()) return type.error();
    const auto copy_on = [&](at::Device device) {
      return cache.get<BartWeights>(
          "weights:" + digest + variant_ + ":" + runtime.device + ":" + runtime.dtype,
          [&] { return copy_to_device(*weights_, device, *type); });
    };
    if (on_cpu) {
      auto copy = copy_on(at::kCPU);
      if (!copy.ok()) return copy.error();
      return make_bart_model(*std::move(copy));
    }
    const auto plugin = kernels::device_plugin();
    if (!plugin.ok()) return plugin.error();
    auto copy = copy_on(at::Device(at::kCUDA, 0));
    if (!copy.ok()) return copy.error();
    return make_device_model(*std::move(copy),
                             nn::plugin_services(**plugin, nn::decode_graphs_wanted()));
  }

  nn::ModelWork work(const nn::ElementBytes& bytes) const override {
    return bart_work(*weights_, bytes);
  }

  Result<std::shared_ptr<const nn::Network>> windowed(int64_t window,
                                                      int64_t positions) const override {
    if (weights_->config.encoder.model_type != "bart" || window % 2 != 0) {
      return invalid_argument("a window of " + std::to_string(window) + " positions for a " +
                              weights_->config.encoder.model_type +
                              "; only BART backbones take one, and it is even");
    }
    return nn::guarded(
        "giving an encoder windows", [&]() -> Result<std::shared_ptr<const nn::Network>> {
          std::string variant = std::to_string(window);
          variant.append("x").append(std::to_string(positions));
          return std::shared_ptr<const nn::Network>(
              std::make_shared<BartNetwork>(led_from_bart(*weights_, window, positions), variant));
        });
  }

 private:
  std::shared_ptr<const BartWeights> weights_;
  std::string variant_;
  nn::SequenceShape shape_;
};

}  // namespace

Result<nn::ModelOutline> outline_bart_folder(const checkpoints::ModelDirectory& directory) {
  const auto config = read_bart_config(directory);
  if (!config.ok()) return config.error();
  return nn::ModelOutline{.shape = shape_of(*config), .cache_elements = config->cache_elements()};
}

Result<std::shared_ptr<const nn::Network>> load_bart_folder(
    const checkpoints::ModelDirectory& directory) {
  auto weights = load_bart_weights(directory);
  if (!weights.ok()) return weights.error();
  return std::shared_ptr<const nn::Network>(std::make_shared<BartNetwork>(*std::move(weights)));
}

}  // namespace qfs::architectures
