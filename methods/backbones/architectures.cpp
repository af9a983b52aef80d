#include "methods/backbones/architectures.h"

#include <algorithm>
#include <array>
#include <string>

#include "methods/backbones/bart/bart_network.h"
#include "methods/backbones/llama/llama_network.h"
#include "methods/checkpoints/model_config.h"

namespace qfs::backbones {

namespace {

constexpr std::array<Architecture, 2> kArchitectures = {
    {{kBartModelTypes, &load_bart_folder, "", nullptr},
     {kLlamaModelTypes, &load_llama_folder, "llama", &load_llama_gguf}}};

}  // namespace

std::span<const Architecture> architectures() { return kArchitectures; }

LoadedNetwork load_network(const checkpoints::ModelDirectory& directory) {
  const auto identity = checkpoints::read_model_identity(directory.config());
  if (!identity.ok()) return identity.error();
  std::string known;
  for (const Architecture& architecture : kArchitectures) {
    for (const std::string_view type : architecture.model_types) {
      if (type == identity->model_type) return architecture.load_folder(directory);
      known.append(known.empty() ? "" : ", ").append(type);
    }
  }
  return unavailable("'" + directory.config().source() + "' has the model type '" +
                     identity->model_type + "'; this program generates text with " + known);
}

LoadedNetwork load_network(const std::shared_ptr<const checkpoints::GgufFile>& file) {
  const auto name = file->text("general.architecture");
  if (!name.ok()) return name.error();
  std::string known;
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.gguf_name.empty()) continue;
    if (architecture.gguf_name == *name) return architecture.load_gguf(file);
    known.append(known.empty() ? "" : ", ").append(architecture.gguf_name);
  }
  return unavailable("'" + file->path() + "' has the architecture '" + std::string(*name) +
                     "'; of GGUF files this program computes " + known);
}

}  // namespace qfs::backbones
