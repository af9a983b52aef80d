#include "methods/models/registry/registry.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "harness/core/files.h"
#include "harness/core/json_dom.h"
#include "harness/core/sha256.h"
#include "harness/core/suggest.h"
#include "harness/core/utf8.h"
#include "methods/models/checkpoints/architecture.h"
#include "methods/models/checkpoints/model_config.h"
#include "methods/models/registry/hugging_face_cache.h"
#include "methods/models/registry/registry_data.h"
#include "methods/models/tokenizers/builtin_tokenizers.h"
#include "methods/models/tokenizers/folders/tokenizer_files.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::registry {

namespace {

namespace fs = std::filesystem;

std::vector<RegisteredBackbone> parse_registry() {
  // The text is part of the program and checked by a test: a failure here cannot be handled.
  const nlohmann::json registry = nlohmann::json::parse(registry_text());
  std::vector<RegisteredBackbone> backbones;
  for (const auto& [name, entry] : registry.items()) {
    RegisteredBackbone backbone;
    backbone.name = name;
    backbone.doc = entry.at("doc");
    backbone.licence = entry.at("licence");
    backbone.file = entry.at("file");
    backbone.bytes = entry.at("bytes");
    backbone.sha256 = entry.at("sha256");
    backbone.tokenizer_digest = entry.at("tokenizer_digest");
    backbone.encoder = entry.value("encoder", false);
    if (!backbone.encoder) {
      backbone.architecture = entry.at("architecture");
      backbone.context = entry.at("context");
      backbone.template_digest = entry.at("template_digest");
    }
    backbone.get = entry.value("get", "./bootstrap.sh model");
    backbones.push_back(std::move(backbone));
  }
  return backbones;
}

const RegisteredBackbone* find_registered(std::string_view name) {
  const auto& all = registered_backbones();
  const auto it =
      std::find_if(all.begin(), all.end(), [&](const auto& b) { return b.name == name; });
  return it == all.end() ? nullptr : &*it;
}

std::vector<std::string> registered_names() {
  std::vector<std::string> names;
  for (const RegisteredBackbone& backbone : registered_backbones()) names.push_back(backbone.name);
  return names;
}

Result<std::string> registered_path(const RegisteredBackbone& backbone) {
  const std::string folder = models_directory() + "/" + backbone.name;
  const std::string path = folder + "/" + backbone.file;
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  if (error) {
    return unavailable("the checkpoint of '" + backbone.name +
                       "' is not on this machine: expected '" + path +
                       "'. Get it with: " + backbone.get);
  }
  if (bytes != static_cast<uintmax_t>(backbone.bytes)) {
    return data_error("'" + path + "' has " + std::to_string(bytes) + " bytes, but '" +
                      backbone.name + "' has " + std::to_string(backbone.bytes) +
                      ". Remove it and run: " + backbone.get);
  }
  return backbone.encoder ? folder : path;
}

/// The files of a folder with an ending, sorted by nothing.
Result<std::vector<std::string>> files_ending(const std::string& folder, std::string_view ending) {
  std::error_code error;
  std::vector<std::string> files;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ending) files.push_back(it->path().string());
  }
  if (error) return unavailable("cannot list '" + folder + "': " + error.message());
  return files;
}

bool has_any(const std::string& folder, const std::vector<std::string>& names) {
  std::error_code error;
  return std::ranges::any_of(
      names, [&](const std::string& name) { return fs::exists(folder + "/" + name, error); });
}

/// What a path means: a file, a Hugging Face folder, or the only GGUF file of a folder.
Result<std::string> checkpoint_at(const std::string& path,
                                  const std::vector<std::string>& folder_files) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return path;
  if (!fs::is_directory(path, error)) return not_found("there is no file or folder '" + path + "'");
  const auto gguf = files_ending(path, ".gguf");
  if (!gguf.ok()) return gguf.error();
  const auto safetensors = files_ending(path, ".safetensors");
  if (!safetensors.ok()) return safetensors.error();
  if (gguf->size() == 1 && safetensors->empty()) return gguf->front();
  if (has_any(path, folder_files)) return path;
  return invalid_argument("'" + path + "' has no " + folder_files.front() + " and " +
                          std::to_string(gguf->size()) +
                          " GGUF files; expected a Hugging Face folder or exactly one GGUF file");
}

Result<std::string> digest_of_weights(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return sha256_file_cached(path);
  const auto folder = checkpoints::ModelDirectory::open(path);
  if (!folder.ok()) return folder.error();
  return folder->digest();
}

Result<std::string> digest_of_tokenizer(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return sha256_file_cached(path);
  return tokenizers::tokenizer_files_digest(path);
}

Result<BackboneFacts> facts_at(const std::string& path) {
  const auto facts_of = [](const auto& checkpoint) -> Result<BackboneFacts> {
    const auto architecture = checkpoints::architecture_of(checkpoint);
    if (!architecture.ok()) return architecture.error();
    const Result<int64_t> context = checkpoints::context_of(checkpoint);
    if (!context.ok()) return context.error();
    const Result<int64_t> decoder = checkpoints::decoder_context_of(checkpoint);
    if (!decoder.ok()) return decoder.error();
    return BackboneFacts{std::string((*architecture)->name), *context, *decoder};
  };
  std::error_code error;
  if (fs::is_directory(path, error)) {
    const auto folder = checkpoints::ModelDirectory::open(path);
    return folder.ok() ? facts_of(*folder) : folder.error();
  }
  const auto file = checkpoints::GgufFile::open(path);
  return file.ok() ? facts_of(**file) : file.error();
}

constexpr std::string_view kLocal = "local:";

/// What backbones and tokenizers are resolved by.
struct Kind {
  std::string_view name;
  std::string RegisteredBackbone::*declared;
  std::vector<std::string> folder_files;  ///< any of them makes a folder a model's
  Result<std::string> (*digest)(const std::string& path);
};

Result<Resource> local_resource(const std::string& path, const Kind& kind) {
  const Result<std::string> place = checkpoint_at(path, kind.folder_files);
  if (!place.ok()) return place.error();
  const Result<std::string> digest = kind.digest(*place);
  if (!digest.ok()) return digest.error();
  return Resource{std::string(kLocal) + *digest, *place, *digest};
}

/// The path behind a name that is none of the registered ones; std::nullopt when it looks like a
/// name.
Result<std::optional<std::string>> unregistered_path(std::string_view name) {
  if (name.starts_with("hf:")) {
    const Result<std::string> folder = hugging_face_snapshot(name.substr(3));
    if (!folder.ok()) return folder.error();
    return std::optional<std::string>(*folder);
  }
  if (name.starts_with(kLocal)) return std::optional<std::string>(name.substr(kLocal.size()));
  if (name.find('/') != std::string_view::npos || name.ends_with(".gguf")) {
    return std::optional<std::string>(name);
  }
  return std::optional<std::string>();
}

Result<Resource> resolve(std::string_view name, const Kind& kind,
                         const std::vector<std::string>& names) {
  if (const RegisteredBackbone* backbone = find_registered(name)) {
    const Result<std::string> path = registered_path(*backbone);
    if (!path.ok()) return path.error();
    return Resource{backbone->name, *path, backbone->*kind.declared};
  }
  const Result<std::optional<std::string>> path = unregistered_path(name);
  if (!path.ok()) return path.error();
  if (*path && first_ill_formed_utf8(**path)) {
    return invalid_argument("the path of the " + std::string(kind.name) + " '" + **path +
                            "' is no UTF-8; rename it or make a link to it");
  }
  if (*path) return local_resource(**path, kind);
  std::error_code error;
  const bool stands_here = !name.empty() && std::filesystem::exists(name, error);
  return not_found("unknown " + std::string(kind.name) + " '" + std::string(name) + "'" +
                   (stands_here ? "; for what stands here write './" + std::string(name) + "'"
                                : suggestion(name, names)) +
                   "; also accepted: a GGUF file or its folder, a Hugging Face folder, or "
                   "hf:org/name@revision");
}

}  // namespace

std::string models_directory() {
  const char* directory = std::getenv("QFS_MODELS_DIR");
  if (directory != nullptr && *directory != '\0') return directory;
  return cache_directory() + "/models";
}

const std::vector<RegisteredBackbone>& registered_backbones() {
  static const std::vector<RegisteredBackbone> kBackbones = parse_registry();
  return kBackbones;
}

std::vector<std::string> backbone_names() {
  std::vector<std::string> names;
  for (const RegisteredBackbone& backbone : registered_backbones()) {
    if (!backbone.encoder) names.push_back(backbone.name);
  }
  return names;
}

Result<Resource> resolve_backbone(std::string_view name) {
  const Kind kind = {"backbone", &RegisteredBackbone::sha256, {"config.json"}, &digest_of_weights};
  return resolve(name, kind, registered_names());
}

Result<Resource> resolve_tokenizer(std::string_view name) {
  if (std::optional<Resource> builtin = tokenizers::builtin_tokenizer(name)) return *builtin;
  std::vector<std::string> names = registered_names();
  names.insert(names.end(), {"characters", "words"});
  const Kind kind = {"tokenizer", &RegisteredBackbone::tokenizer_digest,
                     checkpoints::tokenizer_file_names(), &digest_of_tokenizer};
  return resolve(name, kind, names);
}

Result<BackboneFacts> backbone_facts(const Resource& backbone) {
  if (const RegisteredBackbone* registered = find_registered(backbone.name)) {
    if (!registered->encoder) return BackboneFacts{registered->architecture, registered->context};
  }
  return facts_at(backbone.path);
}

Result<std::string> model_type(const Resource& model) {
  std::error_code error;
  if (!fs::is_directory(model.path, error)) {
    const auto file = checkpoints::GgufFile::open(model.path);
    if (!file.ok()) return file.error();
    const auto name = (*file)->text("general.architecture");
    return name.ok() ? Result<std::string>(std::string(*name)) : name.error();
  }
  const auto folder = checkpoints::ModelDirectory::open(model.path);
  if (!folder.ok()) return folder.error();
  const auto identity = checkpoints::read_model_identity(folder->config());
  if (!identity.ok()) return identity.error();
  const bool native_led =
      identity->model_type == "bart" && folder->config().has("attention_window");
  return native_led ? "led" : identity->model_type;
}

bool is_registered(const Resource& resource) { return !resource.name.starts_with(kLocal); }

Status verify_backbone(const Resource& resource) {
  const Result<std::string> digest = digest_of_weights(resource.path);
  if (!digest.ok()) return digest.error();
  if (*digest == resource.digest) return {};
  return data_error("'" + resource.path + "' has the digest " + *digest + ", but '" +
                    resource.name + "' declares " + resource.digest);
}

}  // namespace qfs::registry
