#include "methods/backbones/registry.h"

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
#include "methods/backbones/hugging_face_cache.h"
#include "methods/backbones/registry_data.h"
#include "methods/tokenizers/tokenizer.h"

namespace qfs::backbones {

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
    backbone.template_digest = entry.at("template_digest");
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

Result<std::string> registered_path(const RegisteredBackbone& backbone) {
  const std::string path = models_directory() + "/" + backbone.name + "/" + backbone.file;
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  if (error) {
    return unavailable("the checkpoint of '" + backbone.name +
                       "' is not on this machine: expected '" + path +
                       "'. Get it with: ./bootstrap.sh model");
  }
  if (bytes != static_cast<uintmax_t>(backbone.bytes)) {
    return data_error("'" + path + "' has " + std::to_string(bytes) + " bytes, but '" +
                      backbone.name + "' has " + std::to_string(backbone.bytes) +
                      ". Remove it and run: ./bootstrap.sh model");
  }
  return path;
}

/// The GGUF file that a path means: itself, or the only one in the folder.
Result<std::string> gguf_file_at(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return path;
  if (!fs::is_directory(path, error)) return not_found("there is no file or folder '" + path + "'");
  std::vector<std::string> files;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".gguf") files.push_back(it->path().string());
  }
  if (error) return unavailable("cannot list '" + path + "': " + error.message());
  if (files.size() == 1) return files.front();
  return invalid_argument("'" + path + "' holds " + std::to_string(files.size()) +
                          " GGUF files; a backbone is exactly one (this program reads no other "
                          "checkpoint format)");
}

Result<Resource> local_resource(const std::string& path) {
  const Result<std::string> file = gguf_file_at(path);
  if (!file.ok()) return file.error();
  const Result<std::string> digest = sha256_file_cached(*file);
  if (!digest.ok()) return digest.error();
  return Resource{"local:" + *digest, *file, *digest};
}

/// The path behind a name that is none of the registered ones; std::nullopt when it looks like a
/// name.
Result<std::optional<std::string>> unregistered_path(std::string_view name) {
  if (name.starts_with("hf:")) {
    const Result<std::string> folder = hugging_face_snapshot(name.substr(3));
    if (!folder.ok()) return folder.error();
    return std::optional<std::string>(*folder);
  }
  if (name.starts_with("local:")) return std::optional<std::string>(name.substr(6));
  if (name.find('/') != std::string_view::npos || name.ends_with(".gguf")) {
    return std::optional<std::string>(name);
  }
  return std::optional<std::string>();
}

Result<Resource> resolve(std::string_view name, std::string RegisteredBackbone::*digest,
                         std::string_view kind, const std::vector<std::string>& names) {
  if (const RegisteredBackbone* backbone = find_registered(name)) {
    const Result<std::string> path = registered_path(*backbone);
    if (!path.ok()) return path.error();
    return Resource{backbone->name, *path, backbone->*digest};
  }
  const Result<std::optional<std::string>> path = unregistered_path(name);
  if (!path.ok()) return path.error();
  if (*path) return local_resource(**path);
  return not_found("unknown " + std::string(kind) + " '" + std::string(name) + "'" +
                   suggestion(name, names) +
                   "; also accepted: a GGUF file or its folder, or hf:org/name@revision");
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
  for (const RegisteredBackbone& backbone : registered_backbones()) names.push_back(backbone.name);
  return names;
}

Result<Resource> resolve_backbone(std::string_view name) {
  return resolve(name, &RegisteredBackbone::sha256, "backbone", backbone_names());
}

Result<Resource> resolve_tokenizer(std::string_view name) {
  if (std::optional<Resource> builtin = tokenizers::builtin_tokenizer(name)) return *builtin;
  std::vector<std::string> names = backbone_names();
  names.insert(names.end(), {"characters", "words"});
  return resolve(name, &RegisteredBackbone::tokenizer_digest, "tokenizer", names);
}

Status verify_backbone(const Resource& resource) {
  const Result<std::string> digest = sha256_file_cached(resource.path);
  if (!digest.ok()) return digest.error();
  if (*digest == resource.digest) return {};
  return data_error("'" + resource.path + "' has the SHA-256 " + *digest + ", but '" +
                    resource.name + "' declares " + resource.digest);
}

}  // namespace qfs::backbones
