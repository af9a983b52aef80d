#include "methods/models/checkpoints/architecture.h"

#include <algorithm>
#include <array>
#include <string>

#include "methods/models/checkpoints/model_config.h"

namespace qfs::checkpoints {

namespace {

constexpr std::array<std::string_view, 4> kBartTypes = {"bart", "led", "mbart", "pegasus"};
constexpr std::array<std::string_view, 1> kGpt2Types = {"gpt2"};
constexpr std::array<std::string_view, 4> kLlamaTypes = {"llama", "mistral", "qwen2", "BlueLM"};

constexpr std::array<Architecture, 3> kArchitectures = {{
    {"bart", kBartTypes, ""},
    {"gpt2", kGpt2Types, ""},
    {"llama", kLlamaTypes, "llama"},
}};

constexpr int64_t kMostContext = int64_t{1} << 40;

void append(std::string& list, std::string_view name) {
  list.append(list.empty() ? "" : ", ").append(name);
}

}  // namespace

std::span<const Architecture> architectures() { return kArchitectures; }

Result<const Architecture*> architecture_of(const ModelDirectory& directory) {
  const auto identity = read_model_identity(directory.config());
  if (!identity.ok()) return identity.error();
  std::string known;
  for (const Architecture& architecture : kArchitectures) {
    if (std::ranges::find(architecture.model_types, identity->model_type) !=
        architecture.model_types.end()) {
      return &architecture;
    }
    for (const std::string_view type : architecture.model_types) append(known, type);
  }
  return unavailable("'" + directory.config().source() + "' has the model type '" +
                     identity->model_type + "'; this program generates text with " + known);
}

Result<const Architecture*> architecture_of(const GgufFile& file) {
  const auto name = file.text("general.architecture");
  if (!name.ok()) return name.error();
  std::string known;
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.gguf_name.empty()) continue;
    if (architecture.gguf_name == *name) return &architecture;
    append(known, architecture.gguf_name);
  }
  return unavailable("'" + file.path() + "' has the architecture '" + std::string(*name) +
                     "'; of GGUF files this program computes " + known);
}

Result<int64_t> context_of(const ModelDirectory& directory) {
  for (const char* key :
       {"max_encoder_position_embeddings", "n_positions", "max_position_embeddings"}) {
    if (directory.config().has(key)) return directory.config().integer(key, 1, kMostContext);
  }
  return 0;
}

Result<int64_t> context_of(const GgufFile& file) {
  const auto architecture = file.text("general.architecture");
  if (!architecture.ok()) return architecture.error();
  const auto context = file.optional_integer(std::string(*architecture) + ".context_length");
  if (!context.ok()) return context.error();
  return context->value_or(0);
}

}  // namespace qfs::checkpoints
