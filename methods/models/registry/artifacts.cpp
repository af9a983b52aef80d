#include "methods/models/registry/artifacts.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "harness/core/files.h"
#include "harness/core/json_dom.h"
#include "harness/core/sha256.h"
#include "methods/models/checkpoints/file_reader.h"
#include "methods/models/checkpoints/safetensors_header.h"

namespace qfs::registry {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kConfigName = "adapter_config.json";
/// Of a folder: what is added to a backbone, or all its weights.
constexpr const char* kAdapterName = "adapter_model.safetensors";
constexpr const char* kModelName = "model.safetensors";
/// What trainings go on from, which is nothing to write with.
constexpr const char* kCheckpointName = "checkpoint.safetensors";
constexpr size_t kMaxConfigBytes = size_t{1} << 20;

using Metadata = std::map<std::string, std::string>;

Result<Metadata> metadata_of(const std::string& path) {
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
  auto header = checkpoints::parse_safetensors_header(text, bytes - sizeof length - length, path);
  if (!header.ok()) return header.error();
  return std::move(header->metadata);
}

/// Of a folder the file by one of the names above, else the only one of its kind: methods that keep
/// more than an adapter name theirs differently ("dyle.safetensors").
Result<std::string> weights_in(const fs::path& folder) {
  std::error_code error;
  for (const char* name : {kAdapterName, kModelName}) {
    if (fs::exists(folder / name, error)) return (folder / name).string();
  }
  std::vector<std::string> others;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".safetensors") && name != kCheckpointName) others.push_back(name);
  }
  if (others.size() == 1) return (folder / others.front()).string();
  std::ranges::sort(others);
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

/// What PEFT's configuration says in our words.
Status read_peft_config(const std::string& path, Params& recipe) {
  const Result<std::string> text = read_file(path, kMaxConfigBytes);
  if (!text.ok()) return text.error();
  const Result<json> config = parse_json(*text, path);
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

}  // namespace

Result<ArtifactFacts> resolve_artifact(const std::string& path) {
  std::error_code ignored;
  std::string weights = path;
  if (fs::is_directory(path, ignored)) {
    auto found = weights_in(path);
    if (!found.ok()) return found.error();
    weights = *std::move(found);
  }
  const std::string config = (fs::path(weights).parent_path() / kConfigName).string();
  if (!fs::exists(weights, ignored)) {
    return not_found("there is no trained file '" + weights + "'");
  }
  Result<Metadata> metadata = metadata_of(weights);
  if (!metadata.ok()) return metadata.error();
  Result<std::string> digest = sha256_file(weights);
  if (!digest.ok()) return digest.error();
  ArtifactFacts facts;
  facts.file = {fs::path(weights).filename().string(), weights, *digest};
  facts.method = (*metadata)["qfs.method"];
  facts.backbone = (*metadata)["qfs.backbone"];
  facts.training_cell = (*metadata)["qfs.training_cell"];
  if (const std::string& recipe = (*metadata)["qfs.recipe"]; !recipe.empty()) {
    if (Status read = read_recipe(recipe, weights, facts.recipe); !read.ok()) return read.error();
    return facts;
  }
  if (!fs::exists(config, ignored)) return facts;
  // Without our metadata the configuration says how the tensors are meant: both are the artifact.
  if (Status read = read_peft_config(config, facts.recipe); !read.ok()) return read.error();
  const Result<std::string> config_digest = sha256_file(config);
  if (!config_digest.ok()) return config_digest.error();
  facts.file.digest = sha256_hex(*config_digest + *digest);
  return facts;
}

}  // namespace qfs::registry
