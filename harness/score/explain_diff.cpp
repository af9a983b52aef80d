#include "harness/score/explain_diff.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "harness/core/postprocess.h"
#include "harness/score/item_source.h"

namespace qfs::score {
namespace {

constexpr const char* kMetric = "metric";
constexpr const char* kPost = "post";
/// Options that are switched before all others, in this order.
constexpr const char* kFirst[] = {"strip", "stem", "split",         "nltk",
                                  "multi", "agg",  "geometric_mean"};

/// Options that go from A's value to B's together.
using Switch = std::vector<std::string>;

std::string key_of(const Switch& keys) {
  std::string text;
  for (const std::string& key : keys) text += (text.empty() ? "" : "+") + key;
  return text;
}

std::string option_of(const Computation& computation, const std::string& key) {
  const auto found = computation.options.find(key);
  return found == computation.options.end() ? std::string() : found->second;
}

/// A's computation with the options `keys` at B's.
Computation mixed(const Computation& a, const Computation& b, const std::set<std::string>& keys) {
  Computation result = keys.contains(kMetric) ? b : a;
  result.postprocess = keys.contains(kPost) ? b.postprocess : a.postprocess;
  if (keys.contains(kMetric)) return result;
  for (const std::string& key : a.declared) {
    if (!keys.contains(key)) continue;
    result.options.erase(key);
    const auto given = b.options.find(key);
    if (given != b.options.end()) result.options.insert(*given);
  }
  return result;
}

std::vector<std::string> differing_options(const Computation& a, const Computation& b) {
  std::vector<std::string> order(std::begin(kFirst), std::end(kFirst));
  order.insert(order.end(), a.declared.begin(), a.declared.end());
  std::vector<std::string> keys;
  for (const std::string& key : order) {
    if (std::ranges::count(keys, key) == 0 && option_of(a, key) != option_of(b, key)) {
      keys.push_back(key);
    }
  }
  return keys;
}

bool is_metric(const Computation& a, const Computation& b, const Switch& keys,
               const MetricCatalog& catalog) {
  return catalog.make(mixed(a, b, {keys.begin(), keys.end()}).name()).ok();
}

/// The first switch that attribution could not make, alone or behind those before it.
std::optional<size_t> impossible(const Computation& a, const Computation& b,
                                 const std::vector<Switch>& switches,
                                 const MetricCatalog& catalog) {
  Switch so_far;
  for (size_t i = 0; i < switches.size(); ++i) {
    so_far.insert(so_far.end(), switches[i].begin(), switches[i].end());
    if (!is_metric(a, b, switches[i], catalog) || !is_metric(a, b, so_far, catalog)) return i;
  }
  return std::nullopt;
}

/// The switch with which switch `at` can be made; a neighbour where none is enough.
size_t partner_of(size_t at, const Computation& a, const Computation& b,
                  const std::vector<Switch>& switches, const MetricCatalog& catalog) {
  for (size_t other = 0; other < switches.size(); ++other) {
    if (other == at) continue;
    Switch both = switches[at];
    both.insert(both.end(), switches[other].begin(), switches[other].end());
    if (is_metric(a, b, both, catalog)) return other;
  }
  return at > 0 ? at - 1 : at + 1;
}

std::vector<Switch> switches_of(const Computation& a, const Computation& b,
                                const MetricCatalog& catalog) {
  std::vector<Switch> switches;
  if (a.metric != b.metric) {
    switches.push_back({kMetric});
  } else {
    for (std::string& key : differing_options(a, b)) switches.push_back({std::move(key)});
    while (switches.size() > 1) {
      const auto at = impossible(a, b, switches, catalog);
      if (!at) break;
      const size_t other = partner_of(*at, a, b, switches, catalog);
      const auto [first, second] = std::minmax(*at, other);
      std::ranges::move(switches[second], std::back_inserter(switches[first]));
      switches.erase(switches.begin() + static_cast<std::ptrdiff_t>(second));
    }
  }
  if (a.postprocess.text != b.postprocess.text) switches.push_back({kPost});
  return switches;
}

Result<ColumnValues> values_of(const Computation& computation, std::span<const ScoreItem> texts,
                               const MetricCatalog& catalog) {
  const auto metric = catalog.make(computation.name());
  if (!metric) return metric.error();
  const Result<Postprocess> chain = Postprocess::of_chain(computation.postprocess);
  if (!chain) return chain.error();
  std::vector<ScoreItem> items(texts.begin(), texts.end());
  for (ScoreItem& item : items) {
    if (Status done = apply(*chain, item); !done) return done.error();
  }
  const Result<std::vector<Statistics>> rows = (*metric)->measure(items);
  if (!rows) return rows.error();
  ColumnValues values;
  for (const Score& score : (*metric)->aggregate(*rows)) values[score.name] = score.value;
  return values;
}

/// Over the columns that both have.
ColumnValues minus(const ColumnValues& left, const ColumnValues& right) {
  ColumnValues result;
  for (const auto& [column, value] : left) {
    const auto other = right.find(column);
    if (other != right.end()) result[column] = value - other->second;
  }
  return result;
}

/// What a run of the one says that one of the other says, too, and the version of a tool where it
/// is another than computes here.
SignatureFields::Fields said_by_both(const SignatureFields& one, const SignatureFields& other) {
  SignatureFields::Fields fields = one.run;
  std::erase_if(fields, [&](const auto& field) {
    const bool another_version = field.first == "version" && !one.version_here;
    return !another_version && std::ranges::count(other.run, field.first,
                                                  &SignatureFields::Fields::value_type::first) == 0;
  });
  return fields;
}

void add_differences(const SignatureFields::Fields& a, const SignatureFields::Fields& b,
                     bool of_run, std::vector<SignatureDifference>& found) {
  const auto in = [](const SignatureFields::Fields& fields, const std::string& key) {
    return std::ranges::find(fields, key, &SignatureFields::Fields::value_type::first);
  };
  for (const auto& [key, value] : a) {
    const auto other = in(b, key);
    const std::string theirs = other == b.end() ? std::string() : other->second;
    if (value != theirs) found.push_back({key, value, theirs, of_run});
  }
  for (const auto& [key, value] : b) {
    if (in(a, key) == a.end()) found.push_back({key, "", value, of_run});
  }
}

}  // namespace

std::vector<SignatureDifference> differences(const SignatureFields& a, const SignatureFields& b) {
  std::vector<SignatureDifference> found;
  if (a.metric != b.metric) found.push_back({kMetric, a.metric, b.metric});
  add_differences(a.fields, b.fields, false, found);
  if (a.of_tool || b.of_tool) {
    add_differences(said_by_both(a, b), said_by_both(b, a), true, found);
  } else {
    add_differences(a.run, b.run, true, found);
  }
  return found;
}

Result<ExplainedDifference> explain_difference(const Computation& a, const Computation& b,
                                               std::span<const ScoreItem> items,
                                               const MetricCatalog& catalog) {
  ExplainedDifference explained;
  explained.with_texts = true;
  Result<ColumnValues> start = values_of(a, items, catalog);
  if (!start) return start.error();
  explained.a = *start;
  explained.b = *start;
  ColumnValues sum;
  std::set<std::string> switched;
  for (const Switch& keys : switches_of(a, b, catalog)) {
    switched.insert(keys.begin(), keys.end());
    const Result<ColumnValues> alone =
        values_of(mixed(a, b, {keys.begin(), keys.end()}), items, catalog);
    if (!alone) return alone.error();
    Result<ColumnValues> so_far = values_of(mixed(a, b, switched), items, catalog);
    if (!so_far) return so_far.error();
    explained.contributions.push_back(
        {key_of(keys), minus(*alone, explained.a), minus(*so_far, explained.b)});
    for (const auto& [column, value] : explained.contributions.back().alone) sum[column] += value;
    explained.b = *std::move(so_far);
  }
  explained.interaction = minus(minus(explained.b, explained.a), sum);
  return explained;
}

}  // namespace qfs::score
