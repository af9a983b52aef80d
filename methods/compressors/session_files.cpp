#include "methods/compressors/session_files.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/core/json_dom.h"
#include "harness/core/log.h"
#include "harness/core/whole_number.h"
#include "methods/models/checkpoints/config_object.h"
#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/peft/lora.h"
#include "methods/models/peft/tensor_files.h"

namespace qfs::compressors {

namespace {

/// Beside what is trained, of a whole checkpoint.
void warn_of_others(const checkpoints::Checkpoint& file,
                    const std::map<std::string, std::vector<int64_t>>& shapes) {
  size_t others = 0;
  std::string first;
  for (const checkpoints::TensorEntry& entry : file.tensors()) {
    if (shapes.contains(entry.name)) continue;
    if (others++ == 0) first = entry.name;
  }
  if (others == 0) return;
  log_warning("'" + file.path() + "' has " + std::to_string(others) +
              " tensors that are not read, such as '" + first + "'");
}

/// `data` unless the file's word for something is what its tensors are.
Status check_said(const OpenedFile& file, const std::string& name, const std::string& found) {
  const auto said = file.fact(name);
  if (!said || *said == found) return {};
  return data_error("its metadata say '" + name + "' " + *said + ", its tensors are " + found,
                    file.tensors->path());
}

/// What stands in front of "layers." in a decoder's own names.
std::string in_front_of_layers(const nn::Decoder& decoder) {
  for (const nn::AdapterTarget& target : nn::adapter_targets(decoder)) {
    const std::string& name = target.layers.front().name;
    if (const size_t at = name.find("layers."); at != std::string::npos) return name.substr(0, at);
  }
  return "";
}

/// What a tensor of a release is called here; empty: nothing that is read.
std::string own_name(const std::string& name, const LoraForm& form, const std::string& before) {
  const std::string table = form.table.substr(form.table.rfind('.', form.table.rfind('.') - 1) + 1);
  const std::string stem = table.substr(0, table.find('.'));
  for (const std::string& end : {table, stem + ".modules_to_save.default.weight"}) {
    if (name == end || name.ends_with("." + end)) return form.table;
  }
  const size_t layer = name.find("layers.");
  for (const std::string part : {".lora_A", ".lora_B"}) {
    const size_t at = name.find(part + ".");
    if (layer == std::string::npos || at == std::string::npos || at < layer) continue;
    return before + name.substr(layer, at - layer) + part + form.after;
  }
  return "";
}

/// `data` for a table of another width or with too few rows, and for half of a pair of matrices.
Status check_lora(const training::NamedTensors& tensors, const LoraForm& form,
                  const nn::Decoder& decoder, const std::string& path) {
  const auto table = tensors.find(form.table);
  if (table == tensors.end()) return data_error("there is no tensor '" + form.table + "'", path);
  if (table->second.size(0) <= form.mode_rows || table->second.size(1) != decoder.hidden()) {
    return data_error("'" + form.table + "' is " + checkpoints::shape_text(table->second.sizes()) +
                          "; the backbone's width is " + std::to_string(decoder.hidden()),
                      path);
  }
  for (const auto& [name, tensor] : tensors) {
    const size_t at = name.rfind(".lora_");
    if (at == std::string::npos) continue;
    std::string other = name;
    const bool down = name.compare(at, 7, ".lora_A") == 0;
    other.replace(at, 7, down ? ".lora_B" : ".lora_A");
    const auto pair = tensors.find(other);
    if (pair == tensors.end()) return data_error("there is no tensor '" + other + "'", path);
    if (tensor.size(down ? 0 : 1) == pair->second.size(down ? 1 : 0)) continue;
    return data_error("'" + name + "' and '" + other + "' are of different ranks", path);
  }
  return {};
}

/// The rank of the matrices; 0: there are none. `data` where some layers that the method adapts
/// have them and others do not.
Result<int64_t> rank_of(const training::NamedTensors& tensors, const LoraForm& form,
                        const nn::Decoder& decoder, const std::string& path) {
  const auto layers = peft::chosen_layers(peft::adaptable_layers(decoder), form.targets);
  if (!layers.ok()) return layers.error();
  int64_t rank = 0;
  std::string missing;
  for (const std::string& layer : *layers) {
    std::string name = form.before + std::string(decoder.name_prefix());
    name.append(layer).append(".lora_A").append(form.after);
    const auto found = tensors.find(name);
    if (found != tensors.end()) {
      rank = found->second.size(0);
    } else if (missing.empty()) {
      missing = name;
    }
  }
  if (rank == 0 || missing.empty()) return rank;
  return data_error("there is no tensor '" + missing + "'", path);
}

/// Whether the file has weights of a whole model.
bool holds_layers(const checkpoints::Checkpoint& file) {
  return std::ranges::any_of(file.tensors(), [](const checkpoints::TensorEntry& entry) {
    return entry.name.find("layers.") != std::string::npos &&
           entry.name.find(".lora_") == std::string::npos;
  });
}

Result<double> alpha_of(const OpenedFile& file, const LoraForm& form) {
  const std::string& path = file.tensors->path();
  for (const char* key : {"lora_alpha", "alpha"}) {
    const auto text = file.fact(key);
    if (!text) continue;
    if (const auto alpha = whole_number<double>(*text); alpha && *alpha > 0) return *alpha;
    std::string what = key;
    what += " is '" + *text + "'; expected a positive number";
    return data_error(std::move(what), path);
  }
  const auto beside = std::filesystem::path(path).parent_path() / "adapter_config.json";
  std::error_code error;
  if (!std::filesystem::exists(beside, error)) return form.alpha;
  const auto config = checkpoints::ConfigObject::read(beside.string());
  if (!config.ok()) return config.error();
  return config->real_or("lora_alpha", form.alpha);
}

}  // namespace

std::optional<std::string> OpenedFile::fact(const std::string& name) const {
  const auto found = facts.find(name);
  return found == facts.end() ? std::nullopt : std::optional(found->second);
}

Result<std::optional<int64_t>> OpenedFile::number(const std::string& name, int64_t least) const {
  const auto text = fact(name);
  if (!text) return std::optional<int64_t>();
  if (const auto value = whole_number<int64_t>(*text); value && *value >= least) return value;
  return data_error(
      "'" + name + "' is '" + *text + "'; expected a number from " + std::to_string(least) + " on",
      tensors->path());
}

Result<OpenedFile> open_trained_file(const std::string& path, std::string_view method) {
  auto opened = checkpoints::open_safetensors(path);
  if (!opened.ok()) return opened.error();
  OpenedFile file{*std::move(opened), {}, {}};
  file.metadata = file.tensors->metadata();
  file.facts = file.metadata;
  if (const auto recipe = file.metadata.find("qfs.recipe"); recipe != file.metadata.end()) {
    const auto parsed = parse_json(recipe->second, path + "#qfs.recipe");
    if (!parsed.ok()) return parsed.error();
    if (!parsed->is_object()) return data_error("its recipe is no JSON object", path);
    for (const auto& [name, value] : parsed->items()) {
      file.facts.emplace(name, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  for (const char* key : {"qfs.method", "method"}) {
    const auto said = file.metadata.find(key);
    if (method.empty() || said == file.metadata.end() || said->second == method) continue;
    return data_error("was trained by '" + said->second + "', not by '" + std::string(method) + "'",
                      path);
  }
  if (const auto digest = file.metadata.find("backbone_sha256"); digest != file.metadata.end()) {
    file.metadata.emplace("qfs.backbone", digest->second);
  }
  return file;
}

Result<SelfcpFile> read_selfcp(const std::string& path, int64_t hidden) {
  const auto file = open_trained_file(path, "selfcp");
  if (!file.ok()) return file.error();
  const checkpoints::Checkpoint& tensors = *file->tensors;
  const auto table = tensors.require(kTrainedEmbeddings);
  if (!table.ok()) return table.error();
  const int64_t rows = (*table)->shape.empty() ? 0 : (*table)->shape.front();
  constexpr const char* kRows[] = {"tag", "separator,tag", "separator,tag,holder"};
  if (rows < 1 || rows > 3) {
    std::string what = kTrainedEmbeddings;
    what += " is " + checkpoints::shape_text((*table)->shape) + "; expected 1, 2 or 3 rows";
    return data_error(std::move(what), path);
  }
  SelfcpFile read;
  read.metadata = file->metadata;
  read.form.rows = rows;
  read.form.bias = tensors.find(kConnectorBias) != nullptr;
  read.form.norm = tensors.find(kConnectorNorm) != nullptr;
  if (read.form.norm && !read.form.bias) {
    return data_error("LayerNorm behind a connector without a bias", path);
  }
  Status consistent = check_said(*file, "rows", kRows[rows - 1]);
  if (consistent.ok()) consistent = check_said(*file, "connector", connector_name(read.form));
  if (!consistent.ok()) return consistent.error();
  const auto separator = file->number("separator_id", 0);
  if (!separator.ok()) return separator.error();
  const auto tag = file->number("tag_id", 0);
  if (!tag.ok()) return tag.error();
  read.form.separator = static_cast<int32_t>(separator->value_or(read.form.separator));
  read.form.tag = static_cast<int32_t>(tag->value_or(read.form.tag));
  const auto shapes = selfcp_shapes(read.form, hidden);
  for (const auto& [name, shape] : shapes) {
    auto tensor = peft::read_tensor(tensors, name, shape);
    if (!tensor.ok()) return tensor.error();
    read.tensors[name] = *std::move(tensor);
  }
  warn_of_others(tensors, shapes);
  return read;
}

Result<LoraTensors> read_lora_tensors(const std::string& path, std::string_view method,
                                      const LoraForm& form, const nn::Decoder& decoder) {
  const auto file = open_trained_file(path, method);
  if (!file.ok()) return file.error();
  const checkpoints::Checkpoint& tensors = *file->tensors;
  LoraTensors read;
  read.metadata = file->metadata;
  const std::string before =
      form.before + std::string(decoder.name_prefix()) + in_front_of_layers(decoder);
  std::map<std::string, std::vector<int64_t>> known;
  for (const checkpoints::TensorEntry& entry : tensors.tensors()) {
    if (entry.name.starts_with("memory_head.")) {
      return unavailable("'" + entry.name + "' is of a head behind the slots, which this program " +
                             "does not compute",
                         path);
    }
    const std::string name = own_name(entry.name, form, before);
    if (name.empty()) continue;
    auto tensor = peft::read_tensor(tensors, entry);
    if (!tensor.ok()) return tensor.error();
    if (tensor->dim() != 2) {
      return data_error(
          "'" + entry.name + "' is " + checkpoints::shape_text(entry.shape) + "; expected a matrix",
          path);
    }
    known[entry.name] = entry.shape;
    read.tensors[name] = *std::move(tensor);
  }
  if (Status whole = check_lora(read.tensors, form, decoder, path); !whole.ok()) {
    return whole.error();
  }
  warn_of_others(tensors, known);
  const auto rank = rank_of(read.tensors, form, decoder, path);
  if (!rank.ok()) return rank.error();
  const int64_t rows = read.tensors.at(form.table).size(0) - form.mode_rows;
  Status consistent = check_said(*file, form.rows, std::to_string(rows));
  if (consistent.ok() && *rank > 0) {
    consistent = check_said(*file, "lora_rank", std::to_string(*rank));
  }
  if (!consistent.ok()) return consistent.error();
  if (*rank == 0) {
    read.merged = holds_layers(tensors);
    if (read.merged) return read;
    return data_error("there are no low-rank matrices, and no weights of an adapted model", path);
  }
  const auto alpha = alpha_of(*file, form);
  if (!alpha.ok()) return alpha.error();
  read.scale = *alpha / static_cast<double>(*rank);
  return read;
}

}  // namespace qfs::compressors
