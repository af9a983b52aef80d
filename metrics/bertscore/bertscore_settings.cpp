#include "metrics/bertscore/bertscore_settings.h"

#include <charconv>

#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "metrics/bertscore/baseline.h"
#include "metrics/bertscore/published_layers.h"

namespace qfs::metrics {
namespace {

using Type = MetricOption::Type;

constexpr uint64_t kMaxBaselineBytes = 1U << 20;
constexpr size_t kDigestDigits = 12;
constexpr int64_t kMaxLayer = 1000;

Result<int64_t> layer_of(const std::string& text, const std::string& model) {
  if (text == "auto") {
    if (const auto layer = published_layer(model)) return *layer;
    return invalid_argument("give 'layer': bert_score 0.3.13 has no choice of a layer for '" +
                            model + "' (its last layer is the number of its layers)");
  }
  int64_t layer = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, layer);
  if (error != std::errc() || stop != end || layer < 0 || layer > kMaxLayer) {
    return invalid_argument("'layer' must be auto or a number from 0 (the embeddings) on, not '" +
                            text + "'");
  }
  return layer;
}

std::string flag(bool on) { return on ? "yes" : "no"; }

}  // namespace

std::vector<MetricOption> bertscore_options() {
  return {
      {"model",
       Type::text,
       {"minilm", "hf:ORG/NAME@REVISION", "PATH"},
       "minilm",
       "encoder (BERT, RoBERTa, DistilBERT or BART): a registered name, one in the Hugging Face "
       "cache, or a folder"},
      {"layer",
       Type::text,
       {"auto", "NUMBER"},
       "auto",
       "whose states are compared; auto: bert_score's choice for a published model"},
      flag_option("idf", false, "tokens weigh by how few references have them"),
      {"rescale",
       Type::text,
       {"PATH"},
       "",
       "baseline file of bert_score (a .tsv of its rescale_baseline) by which values are rescaled"},
      flag_option("prefix_space", false,
                  "RoBERTa and BART read a space before each text, as under transformers 4; under "
                  "transformers 5 they do not"),
      {"batch",
       Type::integer,
       {},
       "0",
       "0: a pair's value is its own; 64: that of bert_score's batches, where padding counts",
       0,
       1 << 20},
      flag_option("groups", false,
                  "of the rows of a question the one with the highest F stands for all, as IDEAL's "
                  "release scores SQuALITY"),
  };
}

Result<BertScoreSettings> read_bertscore_settings(const MetricOptionValues& values) {
  BertScoreSettings settings;
  settings.model = values.text("model");
  if (settings.model.empty()) return invalid_argument("'model' is empty");
  const Result<int64_t> layer = layer_of(values.text("layer"), settings.model);
  if (!layer) return layer.error();
  settings.layer = *layer;
  settings.idf = values.on("idf");
  settings.prefix_space = values.on("prefix_space");
  settings.batch = values.integer("batch");
  const std::string& path = values.text("rescale");
  if (path.empty()) return settings;
  const Result<std::string> text = read_file(path, kMaxBaselineBytes);
  if (!text) return text.error();
  const Result<BertScores> baseline = read_baseline(*text, path, settings.layer);
  if (!baseline) return baseline.error();
  settings.baseline = *baseline;
  settings.baseline_digest = sha256_hex(*text);
  return settings;
}

std::string bertscore_signature(const BertScoreSettings& settings, const Resource& model) {
  const bool local = model.name.starts_with("local:");
  std::string text = "bertscore|compat:bert_score-0.3.13|model:";
  text += (local ? "local" : model.name) + "@" + model.digest.substr(0, kDigestDigits);
  text += "|layer:" + std::to_string(settings.layer) + "|idf:" + flag(settings.idf);
  text += "|rescale:";
  text += settings.baseline ? settings.baseline_digest.substr(0, kDigestDigits) : "none";
  text += "|prefix_space:" + flag(settings.prefix_space);
  text += "|padding:";
  text += settings.batch == 0 ? "none" : "batches-of-" + std::to_string(settings.batch);
  return text + "|multi:max-each|empty:0|dtype:float32|agg:mean|v:1";
}

std::string bert_score_hash(const BertScoreSettings& settings) {
  std::string model = settings.model;
  if (model.starts_with("hf:")) model = model.substr(3, model.find('@') - 3);
  return model + "_L" + std::to_string(settings.layer) + (settings.idf ? "_idf" : "_no-idf") +
         "_version=0.3.12(hug_trans=5.23.0)" + (settings.baseline ? "-custom-rescaled" : "");
}

}  // namespace qfs::metrics
