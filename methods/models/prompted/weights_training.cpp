#include "methods/models/prompted/weights_training.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/nn/trained_weights.h"
#include "methods/models/peft/tensor_files.h"
#include "methods/models/prompted/lora_training.h"
#include "methods/models/prompted/retrained_network.h"
#include "methods/models/prompted/trained_spec.h"
#include "methods/models/registry/registry.h"

namespace qfs::prompted {

namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.json";
constexpr size_t kMostBytes = size_t{256} << 20;  // of a tokenizer's file

/// Of a model.
bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path + "/" + kConfig, ignored);
}

/// The configuration as it stands, with the type that weights are kept in.
Result<std::string> config_text(const std::string& path, at::ScalarType type) {
  const auto text = read_file(path, kMostBytes);
  if (!text.ok()) return text.error();
  nlohmann::ordered_json config = nlohmann::ordered_json::parse(*text, nullptr, false);
  if (!config.is_object()) return data_error("not a JSON object", path);
  for (const char* name : {"torch_dtype", "dtype"}) {
    if (config.contains(name)) config[name] = type == at::kBFloat16 ? "bfloat16" : "float32";
  }
  return config.dump(2) + "\n";
}

/// Copies what a folder has beside its weights.
Status copy_beside(const std::string& from, const std::string& to, at::ScalarType type) {
  const auto config = config_text(from + "/" + kConfig, type);
  if (!config.ok()) return config.error();
  if (Status written = write_file(to + "/" + kConfig, *config); !written.ok()) return written;
  std::vector<std::string> names = checkpoints::tokenizer_file_names();
  names.insert(names.end(), {"generation_config.json", "chat_template.jinja"});
  for (const std::string& name : names) {
    std::error_code ignored;
    if (!fs::is_regular_file(from + "/" + name, ignored)) continue;
    const auto bytes = read_file(from + "/" + name, kMostBytes);
    if (!bytes.ok()) return bytes.error();
    if (Status written = write_file(to + "/" + name, *bytes); !written.ok()) return written;
  }
  return {};
}

class TrainedWeights final : public TrainedAdapter {
 public:
  TrainedWeights(std::shared_ptr<const nn::Decoder> backbone, std::string backbone_path)
      : backbone_(std::move(backbone)), backbone_path_(std::move(backbone_path)) {}

  training::NamedTensors tensors() const override {
    training::NamedTensors values;
    for (const auto& [name, weight] : nn::weights_of(*backbone_)) {
      values[name] = weight.to(at::kCPU, at::kFloat);
    }
    return values;
  }
  void replace(const training::NamedTensors& leaves) override { leaves_ = leaves; }

  std::shared_ptr<const nn::Decoder> decoder() override {
    now_ = nn::with_weights(*backbone_, leaves_);
    return now_;
  }
  bool trains_matrices() const override { return true; }

  Result<TrainedFile> keep(const std::string& folder,
                           const std::map<std::string, std::string>& metadata,
                           at::ScalarType type) const override {
    if (is_folder(backbone_path_)) {
      const Status copied = copy_beside(backbone_path_, folder, type);
      if (!copied.ok()) return copied.error();
    }
    const auto kept = nn::with_weights(*backbone_, leaves_);
    const Status written =
        peft::write_tensor_file(folder + "/" + kWeights, nn::checkpoint_of(*kept), metadata, type);
    if (!written.ok()) return written.error();
    return kept_file(folder, kAdapter, kWeights);
  }

 private:
  std::shared_ptr<const nn::Decoder> backbone_;
  std::string backbone_path_;
  training::NamedTensors leaves_;
  std::shared_ptr<const nn::Decoder> now_;
};

}  // namespace

Result<std::unique_ptr<TrainedAdapter>> make_weights(const AdapterPlace& place) {
  return std::unique_ptr<TrainedAdapter>(
      std::make_unique<TrainedWeights>(place.decoder, place.request.backbone->path));
}

Result<SessionRequest> with_trained_weights(const SessionRequest& request) {
  const auto file = request.artifacts.find(kAdapter);
  if (file == request.artifacts.end()) return invalid_argument("no trained weights were given");
  const fs::path given = file->second.path;
  std::error_code ignored;
  const fs::path weights = fs::is_directory(given, ignored) ? given / kWeights : given;
  const auto opened = checkpoints::open_safetensors(weights.string());
  if (!opened.ok()) return opened.error();
  const Status same = check_backbone((*opened)->metadata(), request, weights.string());
  if (!same.ok()) return same.error();
  SessionRequest writing = request;
  if (!is_folder(weights.parent_path().string())) {
    writing.artifacts = {
        {kWeightsRole, {file->second.name, weights.string(), file->second.digest}}};
    return writing;
  }
  auto trained = registry::resolve_backbone(weights.parent_path().string());
  if (!trained.ok()) return trained.error();
  writing.backbone = *std::move(trained);
  return writing;
}

Result<SessionRequest> as_trained(const SessionRequest& request) {
  return all_weights(request.params) ? with_trained_weights(request) : Result(request);
}

Result<std::unique_ptr<TrainedAdapter>> make_trained(const AdapterPlace& place) {
  return all_weights(place.request.params) ? make_weights(place) : make_lora(place);
}

}  // namespace qfs::prompted
