#include <algorithm>
#include <utility>

#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "methods/lora/session.h"
#include "methods/lora/spec.h"
#include "methods/models/peft/lora.h"
#include "methods/models/prompted/adapter_training.h"
#include "methods/models/prompted/memory_params.h"
#include "methods/models/prompted/memory_session.h"

namespace qfs::lora {

namespace {

// Projections of attention, and of the MLP the first without its gate, as checkpoints of the
// architectures name them.
constexpr const char* kDefaultTargets[] = {"q_proj",
                                           "k_proj",
                                           "v_proj",
                                           "o_proj",
                                           "out_proj",
                                           "up_proj",
                                           "fc1",
                                           "longformer_self_attn.query",
                                           "longformer_self_attn.key",
                                           "longformer_self_attn.value",
                                           "self_attn.output",
                                           "c_attn",
                                           "attn.c_proj",
                                           "c_fc"};

/// Those of the defaults that a decoder has.
std::vector<std::string> default_targets(const nn::Decoder& decoder) {
  std::vector<std::string> targets;
  for (const std::string target : kDefaultTargets) {
    if (peft::chosen_layers(decoder, {&target, 1}).ok()) targets.push_back(target);
  }
  return targets;
}

peft::LoraConfig config_of(const Params& params, const nn::Decoder& decoder) {
  peft::LoraConfig config;
  config.rank = params.get<int64_t>("rank");
  config.alpha = params.find<double>("alpha").value_or(static_cast<double>(config.rank));
  const auto targets = params.find<std::string>("targets");
  config.targets = targets ? prompted::listed(*targets) : default_targets(decoder);
  std::ranges::sort(config.targets);
  return config;
}

class TrainedLora final : public prompted::TrainedAdapter {
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
    const auto segment = params_.find<int64_t>("train_segment");
    return prompted::bound_memory(params_, segment.value_or(prompted::kTrainSegment),
                                  adapter_.memory, *decoder_, "what is trained");
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
    if (written.ok()) written = write_file(folder + "/" + name, files.tensors);
    if (!written.ok()) return written.error();
    return TrainedFile{prompted::kAdapter, name, sha256_hex(files.tensors),
                       static_cast<int64_t>(files.tensors.size())};
  }

 private:
  peft::LoraAdapter adapter_;
  std::shared_ptr<const nn::Decoder> decoder_;
  Params params_;
};

Result<std::unique_ptr<prompted::TrainedAdapter>> make_lora(const prompted::AdapterPlace& place) {
  const SessionRequest& request = place.request;
  auto adapter =
      peft::new_lora(*place.decoder, config_of(request.params, *place.decoder), request.seed);
  if (!adapter.ok()) return adapter.error();
  adapter->memory = prompted::first_memory(request.params, place.decoder->shape(), request.seed);
  if (const auto init = request.artifacts.find(prompted::kAdapter);
      init != request.artifacts.end()) {
    const auto given = peft::read_lora(init->second.path);
    if (!given.ok()) return given.error();
    const Status begun = peft::begin_with(*given, init->second.path, *adapter);
    if (!begun.ok()) return begun.error();
  }
  return std::unique_ptr<prompted::TrainedAdapter>(
      std::make_unique<TrainedLora>(*std::move(adapter), place.decoder, request.params));
}

}  // namespace

Result<std::unique_ptr<TrainingSession>> open_training(const SessionRequest& request,
                                                       ResourceCache& cache) {
  static const LoraSpec spec;
  return prompted::open_adapter_training(request, cache, spec, &make_lora);
}

}  // namespace qfs::lora
