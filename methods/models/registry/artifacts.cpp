#include "methods/models/registry/artifacts.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "harness/core/files.h"
#include "harness/core/json_dom.h"
#include "harness/core/sha256.h"
#include "methods/models/checkpoints/file_reader.h"
#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/checkpoints/safetensors_header.h"

namespace qfs::registry {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kConfigName = "adapter_config.json";
/// What IDEAL's release says of its training and of its prompts, beside a converted adapter.pth.
constexpr const char* kReleaseName = "adapter_params.json";
constexpr const char* kReleasePromptsName = "generate_params.json";
/// Of a folder: what is added to a backbone, or all its weights.
constexpr const char* kAdapterName = "adapter_model.safetensors";
constexpr const char* kModelName = "model.safetensors";
constexpr size_t kMaxConfigBytes = size_t{1} << 20;

/// Of trained biases and norms of IDEAL's release.
constexpr const char* kBiases = "w_bias";
constexpr const char* kTrainedNorm = "llama.norm.weight";

/// What the tensors of the generator of DYLE's release begin with.
constexpr const char* kDyleGenerator = "rag.generator.";

using Metadata = std::map<std::string, std::string>;

Result<checkpoints::SafetensorsHeader> header_of(const std::string& path) {
  auto file = checkpoints::FileReader::open(path);
  if (!file.ok()) return file.error();
  const uint64_t bytes = file->size_bytes();
  uint64_t length = 0;
  if (bytes < sizeof length) return data_error("not a safetensors file: it is too short", path);
  if (Status s = file->read(0, sizeof length, &length); !s.ok()) return s.error();
  if (length > checkpoints::kMaxSafetensorsHeaderBytes || length > bytes - sizeof length) {
    return data_error("not a safetensors file: its header does not fit", path);
  }
  std::string text(length, '\0');
  if (Status s = file->read(sizeof length, length, text.data()); !s.ok()) return s.error();
  return checkpoints::parse_safetensors_header(text, bytes - sizeof length - length, path);
}

/// Whether files are parts of one model: DYLE's release has its extractor and its generator apart.
bool are_parts(const fs::path& folder, const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    const auto header = header_of((folder / name).string());
    return header.ok() && std::ranges::any_of(header->tensors, [](const auto& tensor) {
             return tensor.entry.name.starts_with(kDyleGenerator);
           });
  });
}

/// Of a folder the file by one of the names above, else the only one of its kind: methods that keep
/// more than an adapter name theirs differently ("dyle.safetensors"); the folder itself where its
/// files are one model.
Result<std::string> weights_in(const fs::path& folder) {
  std::error_code error;
  for (const char* name : {kAdapterName, kModelName}) {
    if (fs::exists(folder / name, error)) return (folder / name).string();
  }
  const std::vector<std::string> others = checkpoints::safetensors_in(folder.string());
  if (others.size() == 1) return (folder / others.front()).string();
  if (are_parts(folder, others)) return folder.string();
  std::string which;
  for (const std::string& name : others) which += (which.empty() ? "; name '" : "', '") + name;
  return not_found("there is no trained file '" + (folder / kAdapterName).string() + "'" +
                   (which.empty() ? "" : which + "'"));
}

std::optional<ParamValue> param_value(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  return std::nullopt;
}

Status read_recipe(const std::string& text, const std::string& path, Params& recipe) {
  const Result<json> object = parse_json(text, path);
  if (!object.ok()) return object.error();
  for (const auto& [name, value] : object->items()) {
    if (auto known = param_value(value)) recipe.set(name, *std::move(known));
  }
  return {};
}

Result<json> read_config(const std::string& path) {
  const Result<std::string> text = read_file(path, kMaxConfigBytes);
  if (!text.ok()) return text.error();
  Result<json> config = parse_json(*text, path);
  if (config.ok() && !config->is_object()) return data_error("is not a JSON object", path);
  return config;
}

/// What PEFT's configuration says in our words.
Status read_peft_config(const std::string& path, Params& recipe) {
  const Result<json> config = read_config(path);
  if (!config.ok()) return config.error();
  const auto put = [&](const char* theirs, const char* ours) {
    const auto value = config->find(theirs);
    if (value == config->end()) return;
    if (auto known = param_value(*value)) recipe.set(ours, *std::move(known));
  };
  put("r", "rank");
  put("lora_alpha", "alpha");
  return {};
}

/// "Q,FFN_UP" as "q_proj,up_proj"; `data` for another name.
Result<std::string> our_targets(const std::string& theirs, const std::string& path) {
  static const std::map<std::string, std::string> kNames = {
      {"Q", "q_proj"}, {"K", "k_proj"},       {"V", "v_proj"},
      {"O", "o_proj"}, {"FFN_UP", "up_proj"}, {"FFN_DOWN", "down_proj"}};
  std::string ours;
  std::istringstream names(theirs);
  for (std::string name; std::getline(names, name, ',');) {
    std::erase(name, ' ');
    const auto known = kNames.find(name);
    if (known == kNames.end()) {
      return data_error("'lora_targets' has '" + name + "' (known: Q, K, V, O, FFN_UP, FFN_DOWN)",
                        path);
    }
    ours += (ours.empty() ? "" : ",") + known->second;
  }
  return ours;
}

/// What IDEAL's release says of a file in our words, as far as the file itself does not: which
/// layers have what is seen by its tensors.
Status read_release(const std::string& path, Params& recipe) {
  const Result<json> config = read_config(path);
  if (!config.ok()) return config.error();
  const auto put = [&](const char* theirs, const char* ours) -> Status {
    const auto value = config->find(theirs);
    if (value == config->end() || value->is_null()) return {};
    if (!value->is_number_integer()) {
      return data_error("'" + std::string(theirs) + "' is no whole number", path);
    }
    recipe.set(ours, value->get<int64_t>());
    return {};
  };
  if (Status s = put("lora_rank", "rank"); !s.ok()) return s;
  if (Status s = put("padapter_size", "bottleneck"); !s.ok()) return s;
  if (Status s = put("prompt_len", "length"); !s.ok()) return s;
  if (const json targets = config->value("lora_targets", json()); targets.is_string()) {
    const auto ours = our_targets(targets.get<std::string>(), path);
    if (!ours.ok()) return ours.error();
    recipe.set("targets", *ours);
  }
  const auto is_on = [&](const char* name) { return config->value(name, json()) == json(true); };
  if (is_on(kBiases)) recipe.set(kBiases, true);
  if (config->contains("common_encoder") || config->contains("serial_generate")) {
    recipe.set("hyper_encoder", is_on("serial_generate")  ? "serial"
                                : is_on("common_encoder") ? "common"
                                                          : "own");
  }
  if (const json pooled = config->value("hyper_input_type", json()); pooled.is_string()) {
    recipe.set("pooling", pooled.get<std::string>());
  }
  return {};
}

/// Whether the request stood behind the document once more.
Status read_release_prompts(const std::string& path, Params& recipe) {
  const Result<json> config = read_config(path);
  if (!config.ok()) return config.error();
  if (const json repeated = config->value("instruc_end", json()); repeated.is_boolean()) {
    recipe.set("repeat_query", repeated.get<bool>());
  }
  return {};
}

/// What a file of ours says of itself; false: it does not say how it was trained.
Result<bool> read_metadata(Metadata metadata, ArtifactFacts& facts) {
  facts.method = metadata["qfs.method"];
  facts.backbone = metadata["qfs.backbone"];
  // Of DYLE and of a bank of demonstrations.
  for (const auto& [key, role] :
       {std::pair("qfs.extractor", "extractor"), std::pair("artifact_sha256", "adapter")}) {
    if (const std::string& digest = metadata[key]; !digest.empty()) facts.backbones[role] = digest;
  }
  facts.training_cell = metadata["qfs.training_cell"];
  const std::string& recipe = metadata["qfs.recipe"];
  if (recipe.empty()) return false;
  const Status read = read_recipe(recipe, facts.file.path, facts.recipe);
  if (!read.ok()) return read.error();
  return true;
}

/// Of a folder whose files are one model.
Result<ArtifactFacts> resolve_parts(const std::string& folder) {
  const auto model = checkpoints::open_safetensors(folder);
  if (!model.ok()) return model.error();
  const Result<std::string> digest = (*model)->digest();
  if (!digest.ok()) return digest.error();
  ArtifactFacts facts;
  facts.file = {fs::path(folder).filename().string(), folder, *digest};
  const Result<bool> ours = read_metadata((*model)->metadata(), facts);
  if (!ours.ok()) return ours.error();
  return facts;
}

}  // namespace

Result<ArtifactFacts> resolve_artifact(const std::string& path) {
  std::error_code ignored;
  std::string weights = path;
  if (fs::is_directory(path, ignored)) {
    auto found = weights_in(path);
    if (!found.ok()) return found.error();
    weights = *std::move(found);
  }
  if (!fs::exists(weights, ignored)) {
    return not_found("there is no trained file '" + weights + "'");
  }
  if (fs::is_directory(weights, ignored)) return resolve_parts(weights);
  auto header = header_of(weights);
  if (!header.ok()) return header.error();
  const Result<std::string> digest = sha256_file(weights);
  if (!digest.ok()) return digest.error();
  ArtifactFacts facts;
  facts.file = {fs::path(weights).filename().string(), weights, *digest};
  const Result<bool> ours = read_metadata(header->metadata, facts);
  if (!ours.ok()) return ours.error();
  if (*ours) return facts;
  // Without our metadata these say how the tensors are meant: they are part of the artifact.
  struct Beside {
    const char* name;
    Status (*read)(const std::string& path, Params& recipe);
  };
  for (const auto& [name, read] :
       {Beside{kConfigName, read_peft_config}, Beside{kReleaseName, read_release},
        Beside{kReleasePromptsName, read_release_prompts}}) {
    const std::string beside = (fs::path(weights).parent_path() / name).string();
    if (!fs::exists(beside, ignored)) continue;
    if (Status done = read(beside, facts.recipe); !done.ok()) return done.error();
    const Result<std::string> beside_digest = sha256_file(beside);
    if (!beside_digest.ok()) return beside_digest.error();
    facts.file.digest = sha256_hex(*beside_digest + facts.file.digest);
  }
  if (facts.recipe.has(kBiases) && std::ranges::none_of(header->tensors, [](const auto& tensor) {
        return tensor.entry.name == kTrainedNorm;
      })) {
    return data_error(std::string("'") + kReleaseName + "' beside it says '" + kBiases +
                          "', but it has no '" + kTrainedNorm + "'",
                      weights);
  }
  return facts;
}

}  // namespace qfs::registry
