// The registry of backbones: names of model files with the digests that ids declare, and where the
// files lie on this machine.
//
// Called by the driver (plan, list) and by hosts (verify). Torch-free; reads registry.json, which
// is compiled in, and never the network. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/method.h"
#include "harness/api/result.h"

namespace qfs::registry {

/// A registered model: one GGUF file that carries weights, tokenizer and chat template, or the
/// Hugging Face folder of an encoder.
struct RegisteredBackbone {
  std::string name;
  std::string doc;
  std::string licence;
  std::string architecture;  ///< checkpoints::Architecture::name; of an encoder none
  int64_t context = 0;       ///< BackboneFacts::context
  bool encoder = false;      ///< a folder with the weights `file`; nothing generates with it
  std::string file;          ///< below models_directory()/name
  int64_t bytes = 0;
  std::string sha256;            ///< of the file, or ModelDirectory::digest of the folder
  std::string tokenizer_digest;  ///< checkpoints::tokenizer_digest, tokenizer_files_digest
  std::string template_digest;   ///< checkpoints::chat_template_digest; of an encoder none
  std::string get;               ///< the command that fetches it
};

/// $QFS_MODELS_DIR, else the folder `models` of the user's cache.
std::string models_directory();

const std::vector<RegisteredBackbone>& registered_backbones();
/// Those that generate, for lists of what a method may name.
std::vector<std::string> backbone_names();

/// A backbone by registered name, path of a GGUF file, of a Hugging Face folder or of a folder with
/// one GGUF file (all also with the prefix `local:`), or `hf:org/name@revision` in the Hugging Face
/// cache. The digest is the declared one for registered names and that of the file or the folder's
/// files (ModelDirectory::digest) otherwise. Errors: `unavailable` when the file is not on this
/// machine (the message says how to get it), `not_found` for an unknown name (with the nearest
/// one), `invalid_argument` for a folder that is neither.
Result<Resource> resolve_backbone(std::string_view name);

/// As above for tokenizers, which may also be a file or folder of tokenizers/tokenizer_files.h, and
/// the built-in `words` and `characters`. The digest is that of the tokenizer alone for registered
/// names and folders.
Result<Resource> resolve_tokenizer(std::string_view name);

/// What a registered backbone declares; of another one, what its configuration or the header of its
/// file says. `unavailable`: no code computes its architecture.
Result<BackboneFacts> backbone_facts(const Resource& backbone);

/// What config.json calls its "model_type", or a GGUF file its architecture; "led" of a bart with
/// `attention_window`, as AllenAI's code saves it.
Result<std::string> model_type(const Resource& model);

/// Compares the file or folder at `resource.path` with the declared digest (cached by device,
/// inode, size and mtime); a difference is a `data` error. Hosts call it before they read weights.
Status verify_backbone(const Resource& resource);

/// Whether the digest is the registry's; that of a path is the one that its files have.
bool is_registered(const Resource& resource);

}  // namespace qfs::registry
