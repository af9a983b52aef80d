// Source of the keys: transformers 5.23, generation/configuration_utils.py; up to version 4.2x they
// stood in config.json.
#include "methods/models/architectures/reading/generation_defaults.h"

#include <limits>
#include <span>
#include <string_view>
#include <utility>

namespace qfs::architectures {

namespace {

using checkpoints::ConfigObject;

/// A number that changes nothing, for keys whose other values do.
struct Neutral {
  std::string_view key;
  double value;
};

constexpr Neutral kUncomputedNumbers[] = {
    {"encoder_repetition_penalty", 1},
    {"encoder_no_repeat_ngram_size", 0},
    {"num_beam_groups", 1},
    {"diversity_penalty", 0},
    {"penalty_alpha", 0},
    {"guidance_scale", 1},
};
constexpr Neutral kUncomputedDraws[] = {
    {"typical_p", 1}, {"min_p", 0}, {"top_h", 1}, {"epsilon_cutoff", 0}, {"eta_cutoff", 0},
};
constexpr std::string_view kUncomputedLists[] = {
    "bad_words_ids",
    "force_words_ids",
    "constraints",
    "suppress_tokens",
    "begin_suppress_tokens",
    "sequence_bias",
    "exponential_decay_length_penalty",
    "dola_layers",
    "stop_strings",
    "watermarking_config",
};
constexpr std::string_view kRenormalize = "renormalize_logits";

/// Keys of one file; keeps the first failure.
class DefaultsReader {
 public:
  explicit DefaultsReader(const ConfigObject& file) : file_(file) {}

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
  /// "file#/key" of the first of `numbers` that has another value.
  std::optional<std::string> other_than(std::span<const Neutral> numbers) {
    for (const Neutral& neutral : numbers) {
      if (real(neutral.key).value_or(neutral.value) != neutral.value) {
        return file_.place(neutral.key);
      }
    }
    return std::nullopt;
  }
  std::optional<std::string> given(std::span<const std::string_view> keys) const {
    for (const std::string_view key : keys) {
      if (file_.has(key) && !file_.empty_list(key)) return file_.place(key);
    }
    return std::nullopt;
  }
  std::string place(std::string_view key) const { return file_.place(key); }
  const Status& status() const { return status_; }

 private:
  const ConfigObject* holder(std::string_view key) const {
    return file_.has(key) ? &file_ : nullptr;
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

  const ConfigObject& file_;
  Status status_;
};

PublishedDecoding read_published(const ConfigObject& file) {
  DefaultsReader reader(file);
  PublishedDecoding published;
  published.source = file.source();
  published.min_length = reader.integer("min_length", 0);
  published.min_new_tokens = reader.integer("min_new_tokens", 0);
  published.num_beams = reader.integer("num_beams", 1);
  published.length_penalty = reader.real("length_penalty");
  published.early_stopping = reader.early_stopping();
  published.no_repeat_ngram = reader.integer("no_repeat_ngram_size", 0);
  published.repetition_penalty = reader.real("repetition_penalty");
  published.sample = reader.boolean("do_sample");
  published.temperature = reader.real("temperature");
  published.top_k = reader.integer("top_k", 0);
  published.top_p = reader.real("top_p");
  published.uncomputed = reader.other_than(kUncomputedNumbers);
  if (!published.uncomputed) published.uncomputed = reader.given(kUncomputedLists);
  if (!published.uncomputed && reader.boolean(kRenormalize)) {
    published.uncomputed = reader.place(kRenormalize);
  }
  published.uncomputed_draw = reader.other_than(kUncomputedDraws);
  published.status = reader.status();
  return published;
}

/// BART of transformers up to 4.0 said so instead of naming the token; read in config.json alone.
constexpr std::string_view kForceBos = "force_bos_token_to_be_generated";

}  // namespace

Result<GenerationDefaults> read_generation_defaults(const checkpoints::ModelDirectory& directory) {
  DefaultsReader reader(directory.generation_config());
  DefaultsReader model(directory.config());
  GenerationDefaults defaults;
  defaults.end_ids = reader.ids("eos_token_id");
  if (defaults.end_ids.empty()) defaults.end_ids = model.ids("eos_token_id");
  defaults.forced_first = reader.id("forced_bos_token_id");
  if (!directory.has("generation_config.json") && reader.boolean(kForceBos)) {
    defaults.forced_first = reader.id("bos_token_id");
  }
  const std::vector<int32_t> last = reader.ids("forced_eos_token_id");
  if (!last.empty()) defaults.forced_last = last.front();
  defaults.published = read_published(directory.generation_config());
  for (const DefaultsReader* each : {&reader, &model}) {
    if (!each->status().ok()) return each->status().error();
  }
  if (last.size() > 1) {
    return unavailable("a choice of several forced end tokens is not computed by this program",
                       reader.place("forced_eos_token_id"));
  }
  return defaults;
}

}  // namespace qfs::architectures
