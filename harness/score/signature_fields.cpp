#include "harness/score/signature_fields.h"

#include <algorithm>
#include <set>

#include "harness/api/metric_entry.h"
#include "harness/core/suggest.h"

namespace qfs::score {
namespace {

constexpr size_t kMaxBytes = 64 * 1024;

struct Word {
  std::string_view key;
  std::string_view meaning;
};
/// Keys of metrics, then those that a run of `score` adds.
constexpr Word kWords[] = {
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
    {"v", "the version of this metric in qfs-bench"},
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

/// A signature that needs no look at the other metrics, some of which start a Python to find data.
bool is_common(const SignatureFields& signature) {
  const auto known = [](const auto& field) {
    return std::ranges::find(kWords, field.first, &Word::key) != std::end(kWords);
  };
  return (signature.metric == "rouge" || signature.metric == "ideal") &&
         std::ranges::all_of(signature.fields, known);
}

/// Names and keys of all signatures that this program makes with metrics' defaults and aliases.
void collect(const MetricCatalog& catalog, std::set<std::string>& names,
             std::set<std::string>& keys) {
  for (const MetricInfo& info : catalog.list()) {
    names.insert(info.entry.name);
    std::vector<std::string> variants = {info.entry.name, info.entry.name + ":split=newline"};
    for (const MetricAlias& alias : info.entry.aliases) variants.push_back(alias.name);
    for (const std::string& variant : variants) {
      const auto metric = catalog.make(variant);
      if (!metric) continue;
      const auto fields = split_signature((*metric)->signature());
      if (!fields) continue;
      names.insert(fields->metric);
      for (const auto& [key, value] : fields->fields) keys.insert(key);
    }
  }
  for (const Word& word : kWords) keys.emplace(word.key);
}

}  // namespace

std::string_view SignatureFields::value(std::string_view key) const {
  const auto found = std::ranges::find(fields, key, &std::pair<std::string, std::string>::first);
  return found == fields.end() ? std::string_view() : std::string_view(found->second);
}

Result<SignatureFields> split_signature(std::string_view text) {
  if (text.size() > kMaxBytes) return invalid_argument("a signature of over 64 KiB");
  SignatureFields signature;
  std::set<std::string> seen;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = field_end(text, begin);
    const std::string field(text.substr(begin, end - begin));
    const size_t colon = field.find(':');
    if (begin == 0) {
      if (field.empty() || colon != std::string::npos) {
        return invalid_argument("a signature begins with the name of a metric and '|', found '" +
                                field + "'");
      }
      signature.metric = field;
    } else if (colon == std::string::npos || colon == 0) {
      return invalid_argument("'" + field + "' of the signature is not of the form key:value");
    } else if (!seen.insert(field.substr(0, colon)).second) {
      return invalid_argument("the signature has '" + field.substr(0, colon) + "' twice");
    } else {
      signature.fields.emplace_back(field.substr(0, colon), field.substr(colon + 1));
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
  if (is_common(*signature)) return signature;
  std::set<std::string> names;
  std::set<std::string> keys;
  collect(catalog, names, keys);
  if (!names.contains(signature->metric)) {
    return not_found("unknown metric '" + signature->metric + "' in the signature" +
                     suggestion(signature->metric, std::vector(names.begin(), names.end())));
  }
  for (const auto& [key, value] : signature->fields) {
    if (keys.contains(key)) continue;
    return not_found("unknown key '" + key + "' in the signature" +
                     suggestion(key, std::vector(keys.begin(), keys.end())));
  }
  return signature;
}

std::string key_in_words(std::string_view key) {
  const auto found = std::ranges::find(kWords, key, &Word::key);
  return std::string(found == std::end(kWords) ? key : found->meaning);
}

}  // namespace qfs::score
