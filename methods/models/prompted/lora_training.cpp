#include "methods/models/prompted/lora_training.h"

#include <algorithm>
#include <utility>

#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "methods/models/peft/lora.h"
#include "methods/models/prompted/adapter_training.h"
#include "methods/models/prompted/memory_session.h"
#include "methods/models/prompted/trained_spec.h"

namespace qfs::prompted {

namespace {

class TrainedLora final : public TrainedAdapter {
 public:
  TrainedLora(peft::LoraAdapter adapter, std::shared_ptr<const nn::Decoder> decoder, Params params)
      : adapter_(std::move(adapter)), decoder_(std::move(decoder)), params_(std::move(params)) {}

  training::NamedTensors tensors() const override {
    training::NamedTensors all = peft::matrices_of(adapter_);
    all.insert(adapter_.memory.begin(), adapter_.memory.end());
    return all;
  }
  void replace(const training::NamedTensors& leaves) override {
    peft::replace_matrices(leaves, adapter_);
    for (auto& [name, tensor] : adapter_.memory) tensor = leaves.at(name);
  }

  Result<std::shared_ptr<const nn::InfiniMemory>> memory() override {
    return trained_memory(params_, adapter_.memory, *decoder_);
  }

  std::map<std::string, double> observed() override {
    if (adapter_.memory.empty()) return {};
    return {{"memory.share", peft::mean_share(adapter_.memory)}};
  }

  Result<training::RowAdapters> adapters(std::span<const training::GraphRow> rows) override {
    auto bound = nn::bind_adapters({.linears = adapter_.layers}, *decoder_);
    if (!bound.ok()) return bound.error();
    return training::RowAdapters(rows.size(), *std::move(bound));
  }

  /// A PEFT directory.
  Result<TrainedFile> keep(const std::string& folder,
                           const std::map<std::string, std::string>& metadata,
                           at::ScalarType type) const override {
    peft::LoraAdapter kept = adapter_;
    kept.metadata = metadata;
    const peft::LoraFiles files = peft::lora_files(kept, *decoder_, type);
    const std::string name(peft::kLoraTensors);
    Status written = write_file(folder + "/" + std::string(peft::kLoraConfig), files.config);
    if (!written.ok()) return written.error();
    return keep_bytes(folder, kAdapter, name, files.tensors);
  }

 private:
  peft::LoraAdapter adapter_;
  std::shared_ptr<const nn::Decoder> decoder_;
  Params params_;
};

}  // namespace

peft::LoraConfig lora_config(const Params& params, const char* targets,
                             const peft::AdaptableLayers& layers) {
  peft::LoraConfig config;
  config.rank = params.get<int64_t>("rank");
  config.alpha = params.find<double>("alpha").value_or(static_cast<double>(config.rank));
  const auto given = params.find<std::string>(targets);
  config.targets = given ? listed(*given) : peft::default_targets(layers);
  return config;
}

Result<std::unique_ptr<TrainedAdapter>> make_lora(const AdapterPlace& place) {
  const SessionRequest& request = place.request;
  const peft::AdaptableLayers layers = peft::adaptable_layers(*place.decoder);
  peft::LoraConfig config = lora_config(request.params, "targets", layers);
  std::ranges::sort(config.targets);
  auto adapter = peft::new_lora(layers, config, request.seed);
  if (!adapter.ok()) return adapter.error();
  adapter->memory = first_memory(request.params, place.decoder->shape(), request.seed);
  if (const auto init = request.artifacts.find(kAdapter); init != request.artifacts.end()) {
    const auto given = peft::read_lora(init->second.path);
    if (!given.ok()) return given.error();
    const Status begun = peft::begin_with(*given, init->second.path, *adapter);
    if (!begun.ok()) return begun.error();
  }
  return std::unique_ptr<TrainedAdapter>(
      std::make_unique<TrainedLora>(*std::move(adapter), place.decoder, request.params));
}

}  // namespace qfs::prompted
