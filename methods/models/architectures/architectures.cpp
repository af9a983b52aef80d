#include "methods/models/architectures/architectures.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "methods/models/architectures/bart/bart.h"
#include "methods/models/architectures/gpt2/gpt2.h"
#include "methods/models/architectures/llama/llama_network.h"
#include "methods/models/checkpoints/architecture.h"

namespace qfs::architectures {

namespace {

constexpr Loader kLoaders[] = {
    {"bart", &outline_bart_folder, &load_bart_folder},
    {"gpt2", &outline_gpt2_folder, &load_gpt2_folder},
    {"llama", &outline_llama_folder, &load_llama_folder, &outline_llama_gguf, &load_llama_gguf},
};

/// `checkpoint`: a folder or a GGUF file.
template <class Checkpoint>
Result<const Loader*> loader_of(const Checkpoint& checkpoint) {
  const auto architecture = checkpoints::architecture_of(checkpoint);
  if (!architecture.ok()) return architecture.error();
  const auto loader = std::ranges::find(kLoaders, (*architecture)->name, &Loader::architecture);
  if (loader != std::end(kLoaders)) return &*loader;
  return internal_error("no code computes '" + std::string((*architecture)->name) + "'");
}

}  // namespace

Result<nn::ModelOutline> outline_model(const checkpoints::ModelDirectory& directory) {
  const auto loader = loader_of(directory);
  if (!loader.ok()) return loader.error();
  return (*loader)->outline_folder(directory);
}

Result<nn::ModelOutline> outline_model(const GgufPointer& file) {
  const auto loader = loader_of(*file);
  if (!loader.ok()) return loader.error();
  return (*loader)->outline_gguf(file);
}

LoadedNetwork load_network(const checkpoints::ModelDirectory& directory) {
  const auto loader = loader_of(directory);
  if (!loader.ok()) return loader.error();
  return (*loader)->load_folder(directory);
}

LoadedNetwork load_network(const GgufPointer& file) {
  const auto loader = loader_of(*file);
  if (!loader.ok()) return loader.error();
  return (*loader)->load_gguf(file);
}

}  // namespace qfs::architectures
