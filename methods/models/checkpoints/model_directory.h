// ModelDirectory: a Hugging Face model folder as it is published: which files it has, its
// configuration, its weights.
//
// Called by the backbone registry, loaders and `qfs-bench model`. Nothing is unpickled: a folder
// with only .bin, .pt, .pth or .ckpt weights is `unavailable` with the command that converts it.
// Reads config.json and generation_config.json when opened, weights when asked for. Immutable;
// thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/checkpoints/checkpoint.h"
#include "methods/models/checkpoints/config_object.h"

namespace qfs::checkpoints {

class ModelDirectory {
 public:
  /// `not_found`: no such folder, or no config.json in it. `data`: a configuration is malformed.
  static Result<ModelDirectory> open(const std::string& folder);

  const ConfigObject& config() const { return config_; }
  /// How to generate: generation_config.json; config.json where there is none, as in transformers.
  const ConfigObject& generation_config() const {
    return generation_config_ ? *generation_config_ : config_;
  }

  /// model.safetensors, else model.safetensors.index.json, else the only .safetensors file.
  Result<std::shared_ptr<const Checkpoint>> open_weights() const;

  /// The chat template's text: chat_template.jinja, else `chat_template` of tokenizer_config.json
  /// (of a list, the one named "default"); empty when there is none.
  Result<std::string> chat_template() const;

  bool has(std::string_view name) const;
  /// The path of a file of the folder.
  std::string file(std::string_view name) const;
  /// The files' names, sorted; hidden ones and folders are left out.
  const std::vector<std::string>& files() const { return files_; }
  const std::string& path() const { return path_; }

  /// SHA-256 over the configuration, tokenizer and weights files (files_digest): the folder's
  /// identity. Notes, licences and weights in other formats do not change it.
  Result<std::string> digest() const;
  /// The same over the tokenizer's files alone; `not_found` when there is none.
  Result<std::string> tokenizer_digest() const;

 private:
  explicit ModelDirectory(std::string path);
  std::vector<std::string> weight_files() const;
  Error no_weights() const;

  std::string path_;
  std::vector<std::string> files_;
  ConfigObject config_;
  std::optional<ConfigObject> generation_config_;
};

/// Names of the files that decide how a folder's tokenizer works.
const std::vector<std::string>& tokenizer_file_names();

}  // namespace qfs::checkpoints
