#include "methods/models/architectures/architectures.h"

#include <string>

#include "methods/models/architectures/bart/bart.h"
#include "methods/models/architectures/gpt2/gpt2.h"
#include "methods/models/architectures/llama/llama_families.h"
#include "methods/models/architectures/llama/llama_network.h"
#include "methods/models/checkpoints/model_config.h"

namespace qfs::architectures {

namespace {

constexpr Architecture kArchitectures[] = {
    {kBartModelTypes, &outline_bart_folder, &load_bart_folder},
    {kGpt2ModelTypes, &outline_gpt2_folder, &load_gpt2_folder},
    {kLlamaModelTypes, &outline_llama_folder, &load_llama_folder, "llama", &outline_llama_gguf,
     &load_llama_gguf},
};

Result<const Architecture*> find(const checkpoints::ModelDirectory& directory) {
  const auto identity = checkpoints::read_model_identity(directory.config());
  if (!identity.ok()) return identity.error();
  std::string known;
  for (const Architecture& architecture : kArchitectures) {
    for (const std::string_view type : architecture.model_types) {
      if (type == identity->model_type) return &architecture;
      known.append(known.empty() ? "" : ", ").append(type);
    }
  }
  return unavailable("'" + directory.config().source() + "' has the model type '" +
                     identity->model_type + "'; this program generates text with " + known);
}

Result<const Architecture*> find(const GgufPointer& file) {
  const auto name = file->text("general.architecture");
  if (!name.ok()) return name.error();
  std::string known;
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.gguf_name.empty()) continue;
    if (architecture.gguf_name == *name) return &architecture;
    known.append(known.empty() ? "" : ", ").append(architecture.gguf_name);
  }
  return unavailable("'" + file->path() + "' has the architecture '" + std::string(*name) +
                     "'; of GGUF files this program computes " + known);
}

}  // namespace

Result<nn::ModelOutline> outline_model(const checkpoints::ModelDirectory& directory) {
  const auto architecture = find(directory);
  if (!architecture.ok()) return architecture.error();
  return (*architecture)->outline_folder(directory);
}

Result<nn::ModelOutline> outline_model(const GgufPointer& file) {
  const auto architecture = find(file);
  if (!architecture.ok()) return architecture.error();
  return (*architecture)->outline_gguf(file);
}

LoadedNetwork load_network(const checkpoints::ModelDirectory& directory) {
  const auto architecture = find(directory);
  if (!architecture.ok()) return architecture.error();
  return (*architecture)->load_folder(directory);
}

LoadedNetwork load_network(const GgufPointer& file) {
  const auto architecture = find(file);
  if (!architecture.ok()) return architecture.error();
  return (*architecture)->load_gguf(file);
}

}  // namespace qfs::architectures
