#include "harness/score/signature_fields.h"

#include <algorithm>
#include <set>
#include <span>

#include "harness/api/metric_entry.h"
#include "harness/core/suggest.h"

namespace qfs::score {
namespace {

constexpr size_t kMaxBytes = 16 * 1024;

struct Word {
  std::string_view key;
  std::string_view meaning;
};
constexpr Word kMetricWords[] = {
    {"compat", "the package whose numbers these are"},
    {"tok", "what a word is"},
    {"lc", "lower-casing"},
    {"stem", "stemming"},
    {"split", "the sentences of summary-level ROUGE-L"},
    {"multi", "what several references make of an item"},
    {"agg", "how items become the corpus value"},
    {"gmean", "the geometric mean"},
    {"strip", "texts deleted from predictions"},
    {"seg", "the segmenter"},
    {"variants", "which n-grams and subsequences are counted"},
    {"exceptions", "irregular forms of the stemmer"},
    {"stop", "words left out"},
    {"limit", "how much of a text is read"},
    {"alpha", "the weight of precision in F"},
    {"n", "the orders of n-grams, or the bootstrap's samples"},
    {"case", "upper and lower case"},
    {"smooth", "the smoothing of orders without a match"},
    {"eff", "orders beyond the longest n-gram"},
    {"nc", "the longest character n-gram"},
    {"nw", "the longest word n-gram"},
    {"space", "white space in character n-grams"},
    {"beta", "how much more recall counts than precision"},
    {"punct", "words of punctuation"},
    {"sent", "where sentences end"},
    {"nfkc", "Unicode compatibility forms"},
    {"count", "how repeated n-grams count"},
    {"empty", "what an empty text scores"},
    {"groups", "which row stands for its group"},
    {"v", "the version of this metric in qfs-bench"},
};
constexpr Word kRunWords[] = {
    {"n", "the number of items"},
    {"nrefs", "the number of references"},
    {"missing", "items without a prediction"},
    {"empty", "empty predictions"},
    {"empty-refs", "empty references"},
    {"unit", "what an interval resamples"},
    {"ci", "the interval"},
    {"data", "the data set"},
    {"post", "postprocessing of the texts"},
    {"qfs-bench", "the version of qfs-bench"},
    {"version", "the version of the tool"},
};

/// The end of a field that begins at `at`: the next '|' outside a JSON list (post:["a|b"]).
size_t field_end(std::string_view text, size_t at) {
  if (!text.substr(at).starts_with("post:[")) return std::min(text.find('|', at), text.size());
  bool quoted = false;
  for (size_t i = at; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[i] == '|') {
      return i;
    }
  }
  return text.size();
}

/// Beginnings of signatures whose values other programs made; any keys follow.
constexpr std::string_view kForeign[] = {"external", "import"};

/// A signature that needs no look at the other metrics, some of which start a Python to find data.
bool is_common(const SignatureFields& signature) {
  const auto known = [](const auto& words) {
    return [&words](const auto& field) {
      return std::ranges::find(words, field.first, &Word::key) != std::end(words);
    };
  };
  return (signature.metric == "rouge" || signature.metric == "ideal") &&
         std::ranges::all_of(signature.fields, known(kMetricWords)) &&
         std::ranges::all_of(signature.run, known(kRunWords));
}

/// Metrics and keys that a signature may have.
struct Known {
  std::set<std::string> metrics;
  std::set<std::string> keys;

  void add(const Metric& metric) {
    const auto fields = split_signature(metric.signature());
    if (!fields) return;
    metrics.insert(fields->metric);
    for (const auto& [key, value] : fields->fields) keys.insert(key);
  }
};

/// All metrics, and the keys that this one has with any of its options.
Known known_for(std::string_view metric, const MetricCatalog& catalog) {
  Known known;
  for (const Word& word : kMetricWords) known.keys.emplace(word.key);
  for (const MetricInfo& info : catalog.list()) {
    known.metrics.insert(info.entry.name);
    if (info.entry.name != metric.substr(0, metric.find('|'))) continue;
    std::vector<std::string> variants = {info.entry.name};
    for (const MetricAlias& alias : info.entry.aliases) variants.push_back(alias.name);
    for (const MetricOption& option : info.entry.options) {
      if (option.type != MetricOption::Type::choice) continue;
      for (const std::string& choice : option.choices) {
        variants.push_back(info.entry.name + ":" + option.name + "=" + choice);
      }
    }
    for (const std::string& variant : variants) {
      if (const auto made = catalog.make(variant)) known.add(**made);
    }
  }
  return known;
}

}  // namespace

bool SignatureFields::has(std::string_view key) const {
  return std::ranges::find(fields, key, &Fields::value_type::first) != fields.end();
}

std::string_view SignatureFields::value(std::string_view key) const {
  const auto found = std::ranges::find(fields, key, &Fields::value_type::first);
  return found == fields.end() ? std::string_view() : std::string_view(found->second);
}

std::string_view SignatureFields::run_value(std::string_view key) const {
  const auto found = std::ranges::find(run, key, &Fields::value_type::first);
  return found == run.end() ? value(key) : std::string_view(found->second);
}

Result<SignatureFields> split_signature(std::string_view text) {
  if (text.size() > kMaxBytes) return invalid_argument("a signature of over 16 KiB");
  SignatureFields signature;
  SignatureFields::Fields* part = &signature.fields;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = field_end(text, begin);
    const std::string field(text.substr(begin, end - begin));
    const size_t colon = field.find(':');
    const bool of_name = signature.fields.empty() && colon == std::string::npos && !field.empty();
    if (begin == 0 && !of_name) {
      return invalid_argument("a signature begins with the name of a metric and '|', found '" +
                              field + "'");
    }
    if (of_name) {
      signature.metric += (begin == 0 ? "" : "|") + field;
    } else if (colon == std::string::npos || colon == 0) {
      return invalid_argument("'" + field + "' of the signature is not of the form key:value");
    } else {
      const std::string key = field.substr(0, colon);
      if (std::ranges::find(*part, key, &SignatureFields::Fields::value_type::first) !=
          part->end()) {
        return invalid_argument("the signature has '" + key + "' twice");
      }
      part->emplace_back(key, field.substr(colon + 1));
      if (key == "v") part = &signature.run;
    }
    begin = end + 1;
  }
  return signature;
}

Result<SignatureFields> read_signature(std::string_view text, const MetricCatalog& catalog) {
  if (text.find('|') == std::string_view::npos) {
    const auto metric = catalog.make(text);
    if (!metric) return metric.error();
    Result<SignatureFields> fields = split_signature((*metric)->signature());
    if (fields) fields->name = text;
    return fields;
  }
  if (text.find("|#") != std::string_view::npos) {
    return invalid_argument(
        "this is a short signature, whose '#…' cannot be read back; --signature "
        "long prints the long one");
  }
  Result<SignatureFields> signature = split_signature(text);
  if (!signature) return signature.error();
  const bool foreign = std::ranges::count(kForeign, signature->metric) > 0;
  if (foreign || is_common(*signature)) return signature;
  const Known known = known_for(signature->metric, catalog);
  if (!known.metrics.contains(signature->metric)) {
    const size_t bar = signature->metric.find('|');
    if (known.metrics.contains(signature->metric.substr(0, bar))) {
      return invalid_argument("'" + signature->metric.substr(bar + 1) +
                              "' of the signature is not of the form key:value");
    }
    return not_found(
        "unknown metric '" + signature->metric + "' in the signature" +
        suggestion(signature->metric, std::vector(known.metrics.begin(), known.metrics.end())));
  }
  for (const auto& [key, value] : signature->fields) {
    if (known.keys.contains(key)) continue;
    return not_found("unknown key '" + key + "' in the signature" +
                     suggestion(key, std::vector(known.keys.begin(), known.keys.end())));
  }
  std::vector<std::string> run_keys;
  for (const Word& word : kRunWords) run_keys.emplace_back(word.key);
  for (const auto& [key, value] : signature->run) {
    if (std::ranges::count(run_keys, key) > 0) continue;
    return not_found("unknown key '" + key + "' in the signature" + suggestion(key, run_keys));
  }
  return signature;
}

std::string key_in_words(std::string_view key, bool of_run) {
  const std::span<const Word> words = of_run ? std::span<const Word>(kRunWords) : kMetricWords;
  const auto found = std::ranges::find(words, key, &Word::key);
  return std::string(found == words.end() ? key : found->meaning);
}

}  // namespace qfs::score
