#include "methods/models/inspect/model_report.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/core/json_dom.h"
#include "methods/models/architectures/architectures.h"
#include "methods/models/architectures/bert/encoder_weights.h"
#include "methods/models/checkpoints/gguf_checkpoint.h"
#include "methods/models/checkpoints/model_config.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/nn/matrix.h"
#include "methods/models/registry/registry.h"
#include "methods/models/tokenizers/folders/tokenizer_files.h"

namespace qfs::inspect {

namespace {

using checkpoints::Checkpoint;
using checkpoints::GgufFile;
using checkpoints::ModelDirectory;
using checkpoints::TensorEntry;
using nlohmann::json;

/// Positions that memory is told of beside a decoder's whole window.
constexpr int64_t kShortContext = 2048;

/// A checkpoint in either form.
struct Opened {
  std::optional<ModelDirectory> folder;
  std::shared_ptr<const GgufFile> gguf;
  std::shared_ptr<const Checkpoint> checkpoint;
  std::string model_type;
};

Result<Opened> open(const Resource& resource) {
  Opened opened;
  std::error_code error;
  if (std::filesystem::is_directory(resource.path, error)) {
    Result<ModelDirectory> folder = ModelDirectory::open(resource.path);
    if (!folder.ok()) return folder.error();
    opened.folder = *std::move(folder);
    auto weights = opened.folder->open_weights();
    if (!weights.ok()) return weights.error();
    opened.checkpoint = *weights;
    const auto identity = checkpoints::read_model_identity(opened.folder->config());
    if (!identity.ok()) return identity.error();
    opened.model_type = identity->model_type;
    return opened;
  }
  auto file = GgufFile::open(resource.path);
  if (!file.ok()) return file.error();
  opened.gguf = *file;
  auto checkpoint = checkpoints::open_gguf_checkpoint(*file);
  if (!checkpoint.ok()) return checkpoint.error();
  opened.checkpoint = *checkpoint;
  if (const auto type = (*file)->text("general.architecture"); type.ok()) opened.model_type = *type;
  return opened;
}

/// Which part of a model a tensor is, by the words of its name: the architecture's own, then those
/// that many have in common. The first that fits decides.
std::string_view part_of(std::string_view name, std::span<const nn::PartWord> own) {
  constexpr nn::PartWord kWords[] = {{"norm", "norm"},
                                     {"LayerNorm", "norm"},
                                     {"attention.output", "attention"},
                                     {"embed", "embedding"},
                                     {"token_embd", "embedding"},
                                     {"shared.", "embedding"},
                                     {"attn", "attention"},
                                     {"attention", "attention"},
                                     {"mlp", "feed_forward"},
                                     {"ffn", "feed_forward"},
                                     {".fc", "feed_forward"},
                                     {"intermediate", "feed_forward"},
                                     {".output.dense", "feed_forward"},
                                     {"lm_head", "head"},
                                     {"cls.", "head"},
                                     {"classif", "head"},
                                     {"pooler", "head"},
                                     {"qa_outputs", "head"},
                                     {"vocab_", "head"}};
  if (name == "output.weight") return "head";
  for (const std::span<const nn::PartWord> words : {own, std::span<const nn::PartWord>(kWords)}) {
    for (const nn::PartWord& word : words) {
      if (name.find(word.text) != name.npos) return word.part;
    }
  }
  return "other";
}

json parameters_of(const Checkpoint& checkpoint, std::span<const nn::PartWord> words) {
  json parts = {{"total", 0}, {"embedding", 0}, {"attention", 0}, {"feed_forward", 0},
                {"norm", 0},  {"head", 0},      {"other", 0}};
  for (const TensorEntry& tensor : checkpoint.tensors()) {
    for (const std::string_view part : {std::string_view("total"), part_of(tensor.name, words)}) {
      json& count = parts[std::string(part)];
      count = count.get<int64_t>() + tensor.elements;
    }
  }
  return parts;
}

std::string type_name(const TensorEntry& tensor) {
  const auto info = checkpoints::tensor_type_info(tensor.type);
  return info ? std::string(info->name) : "unknown";
}

void add_tensors(const Checkpoint& checkpoint, json& report) {
  json tensors = json::array();
  std::map<std::string, int64_t> types;
  int64_t bytes = 0;
  for (const TensorEntry& tensor : checkpoint.tensors()) {
    tensors.push_back({{"name", tensor.name},
                       {"type", type_name(tensor)},
                       {"shape", tensor.shape},
                       {"bytes", tensor.bytes}});
    ++types[type_name(tensor)];
    bytes += static_cast<int64_t>(tensor.bytes);
  }
  report["tensors"] = std::move(tensors);
  report["tensor_types"] = types;
  report["stored_bytes"] = bytes;
}

/// Bytes that the weights take once loaded for the CPU: float32 but for matrices that stay packed.
int64_t loaded_bytes(const Checkpoint& checkpoint, bool keeps_packed) {
  int64_t bytes = 0;
  for (const TensorEntry& tensor : checkpoint.tensors()) {
    const bool packed = keeps_packed && tensor.shape.size() == 2 && nn::stays_packed(tensor.type);
    bytes += packed ? static_cast<int64_t>(tensor.bytes) : tensor.elements * 4;
  }
  return bytes;
}

/// What a model needs while it writes, beside its weights: keys and values of a decoder's rows, and
/// of an encoder's source, once for all that go on from it.
void add_memory(const nn::ModelOutline& outline, json& report) {
  const nn::SequenceShape& shape = outline.shape;
  const int64_t weights = report.at("loaded_bytes");
  const int64_t per_token = outline.cache_elements * 4;
  const int64_t longest = shape.encoder_decoder() ? shape.source_context : shape.context;
  std::vector<int64_t> contexts = {longest};
  if (!shape.encoder_decoder() && kShortContext < longest) {
    contexts.insert(contexts.begin(), kShortContext);
  }
  json rows = json::array();
  for (const int64_t context : contexts) {
    const int64_t positions = context + (shape.encoder_decoder() ? shape.context : 0);
    for (const int64_t batch : {1, 8}) {
      rows.push_back({{"context", context},
                      {"batch", batch},
                      {"bytes", weights + batch * positions * per_token}});
    }
  }
  report["context"] = longest;
  if (shape.encoder_decoder()) report["output_context"] = shape.context;
  report["cache_bytes_per_token"] = per_token;
  report["memory"] = std::move(rows);
}

/// Which kind the model is, or why this program computes none of it.
std::string describe_architecture(const Opened& opened, const Result<nn::ModelOutline>& outline,
                                  json& report) {
  report["loaded_bytes"] = loaded_bytes(*opened.checkpoint, outline.ok() && outline->keeps_packed);
  if (outline.ok()) {
    add_memory(*outline, report);
    return outline->shape.encoder_decoder() ? "encoder-decoder" : "decoder";
  }
  // Another model type is unavailable; anything else is wrong with this one.
  if (outline.error().kind != ErrorKind::unavailable) return "no: " + outline.error().to_string();
  if (!opened.folder) return "no: " + outline.error().message;
  const auto encoder = architectures::read_encoder_config(*opened.folder);
  if (encoder.ok()) {
    report["context"] = encoder->max_tokens();
    return "encoder";
  }
  if (encoder.error().kind != ErrorKind::unavailable) return "no: " + encoder.error().to_string();
  return "no: " + outline.error().message + "; " + encoder.error().message;
}

json describe_tokenizer(const std::string& path) {
  const auto tokenizer = tokenizers::open_tokenizer_files(path);
  if (!tokenizer.ok()) return {{"error", tokenizer.error().to_string()}};
  json facts = {{"vocabulary", (*tokenizer)->vocabulary_size()}};
  if (const auto digest = tokenizers::tokenizer_files_digest(path); digest.ok()) {
    facts["digest"] = *digest;
  }
  return facts;
}

/// Loads what can be computed, which checks names, shapes and storage.
Status load_weights(const Opened& opened) {
  const auto network = opened.folder ? architectures::load_network(*opened.folder)
                                     : architectures::load_network(opened.gguf);
  if (network.ok()) return {};
  if (!opened.folder || network.error().kind != ErrorKind::unavailable) return network.error();
  const auto weights = architectures::load_encoder_weights(*opened.folder);
  if (weights.ok()) return {};
  if (weights.error().kind != ErrorKind::unavailable) return weights.error();
  return unavailable(network.error().message + "; " + weights.error().message);
}

/// Reads every number of a tensor that this program converts; `data` names the first that is none.
Status check_finite(const Checkpoint& checkpoint, const TensorEntry& tensor) {
  constexpr int64_t kNumbers = 1 << 20;
  const int64_t width = tensor.row_elements();
  const int64_t step = std::max<int64_t>(kNumbers / std::max<int64_t>(width, 1), 1);
  std::vector<float> values;
  for (int64_t first = 0; first < tensor.rows(); first += step) {
    const int64_t count = std::min(step, tensor.rows() - first);
    values.resize(static_cast<size_t>(count * width));
    const Status read = checkpoint.read_rows(tensor, first, count, values);
    if (!read.ok() && read.error().kind == ErrorKind::unavailable) return {};
    if (!read.ok()) return read;
    const auto wrong = std::ranges::find_if(values, [](float x) { return !std::isfinite(x); });
    if (wrong == values.end()) continue;
    return data_error("'" + checkpoint.path() + "': number " +
                      std::to_string(first * width + (wrong - values.begin())) + " of tensor '" +
                      tensor.name + "' is not finite");
  }
  return {};
}

}  // namespace

Result<Json> inspect_model(const Resource& resource) {
  const Result<Opened> opened = open(resource);
  if (!opened.ok()) return opened.error();
  json report = {{"path", resource.path},
                 {"name", resource.name},
                 {"digest", resource.digest},
                 {"format", opened->gguf ? "GGUF" : "Hugging Face folder"},
                 {"model_type", opened->model_type},
                 {"tokenizer", describe_tokenizer(resource.path)}};
  const auto outline = opened->folder ? architectures::outline_model(*opened->folder)
                                      : architectures::outline_model(opened->gguf);
  report["parameters"] = parameters_of(
      *opened->checkpoint, outline.ok() ? outline->words : std::span<const nn::PartWord>());
  report["computed"] = describe_architecture(*opened, outline, report);
  add_tensors(*opened->checkpoint, report);
  return Json{report.dump()};
}

Result<Json> verify_model(const Resource& resource) {
  const Result<Opened> opened = open(resource);
  if (!opened.ok()) return opened.error();
  json problems = json::array();
  if (const Status digest = registry::verify_backbone(resource); !digest.ok()) {
    problems.push_back(digest.error().to_string());
  }
  if (const Status weights = load_weights(*opened); !weights.ok()) {
    problems.push_back(weights.error().to_string());
  }
  for (const TensorEntry& tensor : opened->checkpoint->tensors()) {
    const Status finite = check_finite(*opened->checkpoint, tensor);
    if (!finite.ok()) problems.push_back(finite.error().to_string());
  }
  const auto tokenizer = tokenizers::open_tokenizer_files(resource.path);
  if (!tokenizer.ok()) problems.push_back(tokenizer.error().to_string());
  return Json{json{{"path", resource.path},
                   {"digest", resource.digest},
                   {"declared", registry::is_registered(resource)},
                   {"tensors", opened->checkpoint->tensors().size()},
                   {"problems", std::move(problems)}}
                  .dump()};
}

}  // namespace qfs::inspect
