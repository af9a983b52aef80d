// Source of the keys: transformers 5.23, generation/configuration_utils.py; up to version 4.2x they
// stood in config.json.
#include "methods/backbones/reading/generation_defaults.h"

#include <limits>
#include <utility>

namespace qfs::backbones {

namespace {

using checkpoints::ConfigObject;

/// Keys of two files, the first of which counts; keeps the first failure.
class DefaultsReader {
 public:
  DefaultsReader(const ConfigObject& first, const ConfigObject& second)
      : first_(first), second_(second) {}

  std::optional<int64_t> integer(std::string_view key, int64_t minimum) {
    const ConfigObject* file = holder(key);
    if (file == nullptr) return std::nullopt;
    return take(file->integer(key, minimum, std::numeric_limits<int32_t>::max()));
  }
  std::optional<int32_t> id(std::string_view key) {
    const auto value = integer(key, 0);
    return value ? std::optional<int32_t>(static_cast<int32_t>(*value)) : std::nullopt;
  }
  std::optional<double> real(std::string_view key) {
    const ConfigObject* file = holder(key);
    return file == nullptr ? std::nullopt : take(file->real(key));
  }
  bool boolean(std::string_view key) {
    const ConfigObject* file = holder(key);
    return file != nullptr && take(file->boolean(key)).value_or(false);
  }
  std::vector<int32_t> ids(std::string_view key) {
    const ConfigObject* file = holder(key);
    std::vector<int32_t> ids;
    if (file == nullptr) return ids;
    for (const int64_t value : take(file->integers(key)).value_or(std::vector<int64_t>{})) {
      if (value < 0 || value > std::numeric_limits<int32_t>::max()) {
        keep(data_error("a token id of " + std::to_string(value), file->place(key)));
        continue;
      }
      ids.push_back(static_cast<int32_t>(value));
    }
    return ids;
  }
  /// True, false or "never".
  std::optional<std::string> early_stopping() {
    constexpr std::string_view kKey = "early_stopping";
    const ConfigObject* file = holder(kKey);
    if (file == nullptr) return std::nullopt;
    if (const auto word = file->text(kKey); word.ok() && *word == "never") return *word;
    const auto early = take(file->boolean(kKey));
    return early ? std::optional<std::string>(*early ? "yes" : "no") : std::nullopt;
  }
  const Status& status() const { return status_; }

 private:
  const ConfigObject* holder(std::string_view key) const {
    if (first_.has(key)) return &first_;
    return second_.has(key) ? &second_ : nullptr;
  }
  template <class T>
  std::optional<T> take(Result<T> value) {
    if (value.ok()) return *std::move(value);
    keep(value.error());
    return std::nullopt;
  }
  void keep(const Error& error) {
    if (status_.ok()) status_ = error;
  }

  const ConfigObject& first_;
  const ConfigObject& second_;
  Status status_;
};

}  // namespace

Result<GenerationDefaults> read_generation_defaults(const checkpoints::ModelDirectory& directory) {
  DefaultsReader reader(directory.generation_config(), directory.config());
  GenerationDefaults defaults;
  defaults.end_ids = reader.ids("eos_token_id");
  defaults.forced_first = reader.id("forced_bos_token_id");
  defaults.forced_last = reader.id("forced_eos_token_id");
  defaults.max_length = reader.integer("max_length", 0);
  defaults.min_length = reader.integer("min_length", 0);
  defaults.max_new_tokens = reader.integer("max_new_tokens", 1);
  defaults.min_new_tokens = reader.integer("min_new_tokens", 0);
  defaults.num_beams = reader.integer("num_beams", 1);
  defaults.length_penalty = reader.real("length_penalty");
  defaults.early_stopping = reader.early_stopping();
  defaults.no_repeat_ngram = reader.integer("no_repeat_ngram_size", 0);
  defaults.sample = reader.boolean("do_sample");
  defaults.temperature = reader.real("temperature");
  defaults.top_k = reader.integer("top_k", 0);
  defaults.top_p = reader.real("top_p");
  if (!reader.status().ok()) return reader.status().error();
  return defaults;
}

}  // namespace qfs::backbones
