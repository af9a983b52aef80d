#include "harness/score/explain_diff.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/core/json_dom.h"
#include "harness/core/postprocess.h"
#include "harness/score/item_source.h"

namespace qfs::score {
namespace {

constexpr const char* kMetric = "metric";
constexpr const char* kPost = "post";
/// The order in which options are switched.
constexpr const char* kOrder[] = {"strip", "stem", "split", "multi", "agg", "gmean"};

/// A signature as something that can be computed.
struct Computation {
  std::string base;                            ///< "rouge", or a whole name
  std::map<std::string, std::string> options;  ///< key of the signature to "option=value"
  std::vector<std::string> postprocess;

  std::string name() const {
    std::string text = base;
    char separator = ':';
    for (const char* key : kOrder) {
      const auto option = options.find(key);
      if (option == options.end() || option->second.empty()) continue;
      text += separator + option->second;
      separator = ',';
    }
    return text;
  }
};

Error not_understood(const std::string& key, std::string_view value, const std::string& expected) {
  return invalid_argument("the signature's " + key + " is '" + std::string(value) + "', expected " +
                          expected);
}

Result<std::string> split_option(std::string_view value) {
  if (value == "newline") return std::string("split=newline");
  for (const auto& [prefix, split] : {std::pair<std::string_view, const char*>{"punkt(", "punkt"},
                                      {"punkt+newline(", "punkt-newline"}}) {
    for (const char* nltk : {"3.9", "3.10"}) {
      if (!value.starts_with(prefix)) continue;
      if (value.substr(prefix.size()).starts_with(std::string("nltk-") + nltk + ",")) {
        return std::string("split=") + split + ",nltk=" + nltk;
      }
    }
  }
  return not_understood("split", value,
                        "newline, punkt(…) or punkt+newline(…) of NLTK 3.9 or 3.10");
}

Result<std::string> multi_option(std::string_view value) {
  for (const auto& [meaning, name] :
       {std::pair<std::string_view, const char*>{"max-f-per-metric", "max"},
        {"mean", "mean"},
        {"first", "first"},
        {"pooled", "pooled"},
        {"max-recall-per-metric", "best-recall"},
        {"jack-knife(max-f-per-metric)", "jack-knife"}}) {
    if (value == meaning) return std::string("multi=") + name;
  }
  constexpr std::string_view kPair = "best-pair(";
  if (value.starts_with(kPair) && value.ends_with(')')) {
    value.remove_prefix(kPair.size());
    value.remove_suffix(1);
    return "multi=best:" + std::string(value);
  }
  return not_understood("multi", value, "a policy such as max-f-per-metric");
}

/// The chain of "post:[…]", or none.
Result<std::vector<std::string>> chain_of(const SignatureFields& signature) {
  const std::string_view text = signature.value(kPost);
  std::vector<std::string> steps;
  if (text.empty()) return steps;
  const Result<nlohmann::json> list = parse_json(text, "post of the signature");
  if (!list) return list.error();
  if (!list->is_array()) return not_understood(kPost, text, "a list of steps");
  for (const nlohmann::json& step : *list) {
    if (!step.is_string()) return not_understood(kPost, text, "a list of steps");
    steps.push_back(step.get<std::string>());
  }
  return steps;
}

Result<Computation> rouge_computation(const SignatureFields& signature) {
  Computation computation{signature.metric, {}, {}};
  Result<std::string> split = split_option(signature.value("split"));
  if (!split) return split.error();
  computation.options["split"] = *std::move(split);
  if (signature.metric == "ideal") {
    computation.options["strip"] = signature.value("strip") == "none" ? "strip=off" : "strip=on";
    return computation;
  }
  const std::string_view stem = signature.value("stem");
  if (stem != "porter-nltk" && stem != "none") {
    return not_understood("stem", stem, "porter-nltk or none");
  }
  computation.options["stem"] = stem == "none" ? "stem=off" : "stem=on";
  Result<std::string> multi = multi_option(signature.value("multi"));
  if (!multi) return multi.error();
  computation.options["multi"] = *std::move(multi);
  const std::string_view agg = signature.value("agg");
  if (agg != "mean" && !agg.starts_with("boot-median")) {
    return not_understood("agg", agg, "mean or boot-median(…)");
  }
  computation.options["agg"] = agg == "mean" ? "agg=mean" : "agg=boot-median";
  if (!signature.value("gmean").empty()) computation.options["gmean"] = "geometric_mean=on";
  return computation;
}

Result<Computation> computation_of(const SignatureFields& signature, const MetricCatalog& catalog) {
  const bool known = signature.metric == "rouge" || signature.metric == "ideal";
  if (!known && signature.name.empty()) {
    return unavailable("the metric '" + signature.metric +
                       "' cannot be computed from its signature alone; give its name with options, "
                       "as --profile takes it, instead of the signature");
  }
  Result<Computation> computation =
      known ? rouge_computation(signature) : Computation{signature.name, {}, {}};
  if (!computation) return computation;
  Result<std::vector<std::string>> chain = chain_of(signature);
  if (!chain) return chain.error();
  computation->postprocess = *std::move(chain);
  const auto metric = catalog.make(computation->name());
  if (!metric) return metric.error();
  const Result<SignatureFields> made = split_signature((*metric)->signature());
  if (!made) return made.error();
  for (const auto& [key, value] : made->fields) {
    if (signature.value(key) != value) {
      return unavailable(key_in_words(key) + ": the signature has '" +
                         std::string(signature.value(key)) + "', this machine and version have '" +
                         value + "'");
    }
  }
  return computation;
}

/// A's computation with the options `keys` at B's.
Computation mixed(const Computation& a, const Computation& b, const std::set<std::string>& keys) {
  Computation result = a;
  if (keys.contains(kMetric)) {
    result.base = b.base;
    result.options = b.options;
  }
  for (const char* key : kOrder) {
    if (!keys.contains(key)) continue;
    const auto option = b.options.find(key);
    result.options[key] = option == b.options.end() ? "" : option->second;
  }
  if (keys.contains(kPost)) result.postprocess = b.postprocess;
  return result;
}

std::vector<std::string> switches(const Computation& a, const Computation& b) {
  std::vector<std::string> keys;
  if (a.base != b.base) {
    keys.emplace_back(kMetric);
  } else {
    for (const char* key : kOrder) {
      const auto of = [&](const Computation& c) {
        const auto option = c.options.find(key);
        return option == c.options.end() ? std::string() : option->second;
      };
      if (of(a) != of(b)) keys.emplace_back(key);
    }
  }
  if (a.postprocess != b.postprocess) keys.emplace_back(kPost);
  return keys;
}

class Evaluator {
 public:
  Evaluator(std::span<const ScoreItem> items, const MetricCatalog& catalog)
      : items_(items), catalog_(catalog) {}

  Result<ColumnValues> values(const Computation& computation) const {
    const auto metric = catalog_.make(computation.name());
    if (!metric) return metric.error();
    const Result<Postprocess> chain = Postprocess::parse(computation.postprocess);
    if (!chain) return chain.error();
    std::vector<ScoreItem> items(items_.begin(), items_.end());
    for (ScoreItem& item : items) {
      if (Status done = apply(*chain, item); !done) return done.error();
    }
    const Result<std::vector<Statistics>> rows = (*metric)->measure(items);
    if (!rows) return rows.error();
    ColumnValues values;
    for (const Score& score : (*metric)->aggregate(*rows)) values[score.name] = score.value;
    return values;
  }

 private:
  std::span<const ScoreItem> items_;
  const MetricCatalog& catalog_;
};

/// Over the columns that both have.
ColumnValues minus(const ColumnValues& left, const ColumnValues& right) {
  ColumnValues result;
  for (const auto& [column, value] : left) {
    const auto other = right.find(column);
    if (other != right.end()) result[column] = value - other->second;
  }
  return result;
}

}  // namespace

std::vector<SignatureDifference> differences(const SignatureFields& a, const SignatureFields& b) {
  std::vector<SignatureDifference> found;
  if (a.metric != b.metric) found.push_back({kMetric, a.metric, b.metric});
  for (const auto& [key, value] : a.fields) {
    if (b.value(key) != value) found.push_back({key, value, std::string(b.value(key))});
  }
  for (const auto& [key, value] : b.fields) {
    const bool in_a = std::ranges::any_of(a.fields, [&](const auto& f) { return f.first == key; });
    if (!in_a) found.push_back({key, "", value});
  }
  return found;
}

Result<ExplainedDifference> explain_difference(const SignatureFields& a, const SignatureFields& b,
                                               std::span<const ScoreItem> items,
                                               const MetricCatalog& catalog) {
  ExplainedDifference explained;
  explained.differences = differences(a, b);
  if (items.empty()) return explained;
  explained.with_texts = true;
  const Result<Computation> from = computation_of(a, catalog);
  if (!from) return from.error();
  const Result<Computation> to = computation_of(b, catalog);
  if (!to) return to.error();
  const Evaluator evaluator(items, catalog);
  Result<ColumnValues> start = evaluator.values(*from);
  if (!start) return start.error();
  explained.a = *start;
  explained.b = *start;
  ColumnValues sum;
  std::set<std::string> switched;
  for (const std::string& key : switches(*from, *to)) {
    switched.insert(key);
    const Result<ColumnValues> alone = evaluator.values(mixed(*from, *to, {key}));
    if (!alone) return alone.error();
    Result<ColumnValues> so_far = evaluator.values(mixed(*from, *to, switched));
    if (!so_far) return so_far.error();
    explained.contributions.push_back(
        {key, minus(*alone, explained.a), minus(*so_far, explained.b)});
    for (const auto& [column, value] : explained.contributions.back().alone) sum[column] += value;
    explained.b = *std::move(so_far);
  }
  explained.interaction = minus(minus(explained.b, explained.a), sum);
  return explained;
}

}  // namespace qfs::score
