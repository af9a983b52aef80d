#include "methods/backbones/bart/bart_network.h"

#include <utility>

#include "methods/backbones/bart/bart_model.h"
#include "methods/backbones/device_runtime.h"

namespace qfs::backbones {

namespace {

class BartNetwork final : public Network {
 public:
  explicit BartNetwork(std::shared_ptr<const BartWeights> weights)
      : weights_(std::move(weights)), shape_(shape_of(*weights_)) {}

  const SequenceShape& shape() const override { return shape_; }

  Result<std::unique_ptr<SequenceModel>> open(const RuntimeOptions& runtime,
                                              const std::string& digest,
                                              ResourceCache& cache) const override {
    if (runtime.device == "cpu") return make_bart_model(weights_);
    const auto type = element_type_named(runtime.dtype);
    if (!type.ok()) return type.error();
    const std::string key = "weights:" + digest + ":" + runtime.device + ":" + runtime.dtype;
    auto copy = cache.get<BartWeights>(
        key, [&] { return copy_to_device(*weights_, at::Device(at::kCUDA, 0), *type); });
    if (!copy.ok()) return copy.error();
    return make_bart_model(*std::move(copy));
  }

 private:
  std::shared_ptr<const BartWeights> weights_;
  SequenceShape shape_;
};

}  // namespace

Result<std::shared_ptr<const Network>> load_bart_folder(
    const checkpoints::ModelDirectory& directory) {
  auto weights = load_bart_weights(directory);
  if (!weights.ok()) return weights.error();
  return std::shared_ptr<const Network>(std::make_shared<BartNetwork>(*std::move(weights)));
}

}  // namespace qfs::backbones
