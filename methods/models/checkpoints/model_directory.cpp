#include "methods/models/checkpoints/model_directory.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "harness/core/files.h"
#include "methods/models/checkpoints/safetensors.h"

namespace qfs::checkpoints {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSingle = "model.safetensors";
constexpr std::string_view kIndex = "model.safetensors.index.json";
constexpr size_t kMaxFiles = 10000;

bool is_identifier(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '_');
  });
}

bool is_pickled(std::string_view name) {
  for (const std::string_view suffix : {".bin", ".pt", ".pth", ".ckpt", ".pkl"}) {
    if (name.ends_with(suffix)) return true;
  }
  return false;
}

Result<std::vector<std::string>> list_files(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return not_found("there is no folder '" + folder + "'");
  std::vector<std::string> names;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code ignored;
    if (name.starts_with(".") || !it->is_regular_file(ignored)) continue;
    names.push_back(name);
    if (names.size() > kMaxFiles) return data_error("more than 10000 files", folder);
  }
  if (error) return unavailable("cannot list '" + folder + "': " + error.message());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

const std::vector<std::string>& tokenizer_file_names() {
  static const std::vector<std::string> kNames = {
      "added_tokens.json", "merges.txt",     "sentencepiece.bpe.model", "special_tokens_map.json",
      "spiece.model",      "tokenizer.json", "tokenizer.model",         "tokenizer_config.json",
      "vocab.json",        "vocab.txt"};
  return kNames;
}

ModelDirectory::ModelDirectory(std::string path)
    : path_(std::move(path)), config_(ConfigObject::empty(path_ + "/config.json")) {}

Result<ModelDirectory> ModelDirectory::open(const std::string& folder) {
  Result<std::vector<std::string>> files = list_files(folder);
  if (!files.ok()) return files.error();
  ModelDirectory directory(folder);
  directory.files_ = *std::move(files);
  if (!directory.has("config.json")) {
    return not_found("'" + folder + "' has no config.json, which a Hugging Face model folder has");
  }
  Result<ConfigObject> config = ConfigObject::read(directory.file("config.json"));
  if (!config.ok()) return config.error();
  directory.config_ = *std::move(config);
  if (directory.has("generation_config.json")) {
    Result<ConfigObject> generation = ConfigObject::read(directory.file("generation_config.json"));
    if (!generation.ok()) return generation.error();
    directory.generation_config_ = *std::move(generation);
  }
  return directory;
}

Result<std::string> ModelDirectory::chat_template() const {
  constexpr size_t kLongestTemplate = size_t{1} << 20;
  if (has("chat_template.jinja")) return read_file(file("chat_template.jinja"), kLongestTemplate);
  if (!has("tokenizer_config.json")) return std::string();
  const Result<ConfigObject> config = ConfigObject::read(file("tokenizer_config.json"));
  if (!config.ok()) return config.error();
  // Several templates are a list of {"name", "template"}.
  const Result<std::vector<ConfigObject>> named = config->objects("chat_template");
  if (!named.ok()) return config->text_or("chat_template", "");
  for (const ConfigObject& entry : *named) {
    const Result<std::string> name = entry.text("name");
    if (!name.ok()) return name.error();
    if (*name == "default") return entry.text("template");
  }
  return std::string();
}

bool ModelDirectory::has(std::string_view name) const {
  return std::binary_search(files_.begin(), files_.end(), name);
}

std::string ModelDirectory::file(std::string_view name) const {
  return path_ + "/" + std::string(name);
}

std::vector<std::string> ModelDirectory::weight_files() const {
  if (has(kSingle)) return {std::string(kSingle)};
  std::vector<std::string> names;
  for (const std::string& name : files_) {
    if (name.ends_with(".safetensors")) names.push_back(name);
  }
  if (has(kIndex)) names.emplace_back(kIndex);
  return names;
}

Error ModelDirectory::no_weights() const {
  const auto pickled = std::find_if(files_.begin(), files_.end(), is_pickled);
  if (pickled == files_.end()) {
    return not_found("'" + path_ + "' has neither model.safetensors nor " + std::string(kIndex));
  }
  const Result<std::vector<std::string>> classes = config_.texts("architectures");
  // Only a plain name goes into a command that somebody may run.
  const bool named = classes.ok() && !classes->empty() && is_identifier(classes->front());
  const std::string name = named ? classes->front() : "AutoModel";
  return unavailable(
      "'" + path_ + "' has its weights only as '" + *pickled +
      "', a pickle: reading it would run code of its author. Convert it once where you trust it: "
      "python3 -c \"from transformers import AutoTokenizer, " +
      name + "; " + name +
      ".from_pretrained('DIR').save_pretrained('OUT', safe_serialization=True); "
      "AutoTokenizer.from_pretrained('DIR').save_pretrained('OUT')\"");
}

Result<std::shared_ptr<const Checkpoint>> ModelDirectory::open_weights() const {
  const std::vector<std::string> names = weight_files();
  if (has(kSingle)) return open_safetensors(file(kSingle));
  if (has(kIndex)) return open_safetensors(file(kIndex));
  if (names.size() == 1) return open_safetensors(file(names.front()));
  if (names.empty()) return no_weights();
  return invalid_argument("'" + path_ + "' has " + std::to_string(names.size()) +
                          " .safetensors files but no " + std::string(kIndex));
}

Result<std::string> ModelDirectory::digest() const {
  std::vector<std::string> names = weight_files();
  for (const std::string_view name :
       {"config.json", "generation_config.json", "chat_template.jinja"}) {
    if (has(name)) names.emplace_back(name);
  }
  for (const std::string& name : tokenizer_file_names()) {
    if (has(name)) names.push_back(name);
  }
  return files_digest(path_, std::move(names));
}

Result<std::string> ModelDirectory::tokenizer_digest() const {
  std::vector<std::string> names;
  for (const std::string& name : tokenizer_file_names()) {
    if (has(name)) names.push_back(name);
  }
  if (names.empty()) return not_found("'" + path_ + "' has no tokenizer files");
  return files_digest(path_, std::move(names));
}

}  // namespace qfs::checkpoints
