#include "methods/models/checkpoints/architecture.h"

#include <algorithm>
#include <array>
#include <initializer_list>
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

/// What the configuration has under the first of these keys that it has; 0: under none.
Result<int64_t> first_of(const ModelDirectory& directory, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (directory.config().has(key)) return directory.config().integer(key, 1, kMostContext);
  }
  return 0;
}

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
  return first_of(directory,
                  {"max_encoder_position_embeddings", "n_positions", "max_position_embeddings"});
}

Result<int64_t> context_of(const GgufFile& file) {
  const auto architecture = file.text("general.architecture");
  if (!architecture.ok()) return architecture.error();
  const auto context = file.optional_integer(std::string(*architecture) + ".context_length");
  if (!context.ok()) return context.error();
  return context->value_or(0);
}

Result<int64_t> decoder_context_of(const ModelDirectory& directory) {
  const auto architecture = architecture_of(directory);
  if (!architecture.ok()) return architecture.error();
  if ((*architecture)->name != "bart") return 0;
  return first_of(directory, {"max_decoder_position_embeddings", "max_position_embeddings"});
}

// None of those that are read is an encoder-decoder.
Result<int64_t> decoder_context_of(const GgufFile&) { return 0; }

}  // namespace qfs::checkpoints
