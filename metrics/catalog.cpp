#include "metrics/catalog.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>

#include "harness/core/suggest.h"
#include "metrics/chinese/rouge_zh_entry.h"
#include "metrics/option_parser.h"
#include "metrics/rouge/rouge_entry.h"
#include "metrics/rouge155/rouge155_entry.h"
#include "metrics/sacrebleu/sacrebleu_entries.h"
#include "metrics/set_rouge/set_rouge_entries.h"
#include "metrics/surface/surface_entries.h"

namespace qfs::metrics {
namespace {

struct Named {
  const MetricEntry* entry = nullptr;
  std::string preset;
};

Result<Named> find(std::span<const MetricEntry> entries, std::string_view base) {
  std::vector<std::string> names;
  for (const MetricEntry& entry : entries) {
    if (entry.name == base) return Named{&entry, {}};
    names.push_back(entry.name);
    for (const MetricAlias& alias : entry.aliases) {
      if (alias.name == base) return Named{&entry, alias.options};
      names.push_back(alias.name);
    }
  }
  const std::string near = suggestion(base, names);
  return not_found("unknown metric '" + std::string(base) + "'" +
                   (near.empty() ? "; 'qfs-bench list metrics' names all" : near));
}

}  // namespace

const std::vector<MetricEntry>& metric_entries() {
  static const std::vector<MetricEntry> entries = {
      rouge_entry(),
      ideal_entry(),
      rouge_zh_entry(),
      pltrdy_rouge_entry(),
      rouge_chinese_entry(),
      longbench_entry(),
      rouge155::rouge155_entry(),
      coverage_entry(),
      density_entry(),
      compression_entry(),
      novel_ngrams_entry(),
      repetition_entry(),
      length_entry(),
      query_coverage_entry(),
      accuracy_entry(),
      bleu_entry(),
      chrf_entry(),
  };
  return entries;
}

BuiltinMetrics::BuiltinMetrics(std::vector<MetricEntry> more) : entries_(metric_entries()) {
  std::ranges::move(more, std::back_inserter(entries_));
}

std::vector<MetricInfo> BuiltinMetrics::list() const {
  std::vector<MetricInfo> infos;
  for (const MetricEntry& entry : entries_) {
    Result<std::shared_ptr<const Metric>> metric = make(entry.name);
    infos.push_back({entry, metric ? *std::move(metric) : nullptr});
  }
  return infos;
}

Result<std::shared_ptr<const Metric>> BuiltinMetrics::make(std::string_view name) const {
  const size_t colon = name.find(':');
  const std::string_view base = name.substr(0, colon);
  const Result<Named> named = find(entries_, base);
  if (!named) return named.error();
  if (colon != std::string_view::npos && colon + 1 == name.size()) {
    return invalid_argument("metric '" + std::string(name) + "': no option follows ':'");
  }
  const std::string_view given =
      colon == std::string_view::npos ? std::string_view() : name.substr(colon + 1);
  Result<MetricOptionValues> values =
      read_options(named->entry->options, named->preset, given, name);
  if (!values) return values.error();
  Result<std::shared_ptr<const Metric>> metric = named->entry->make(*values);
  if (metric) return metric;
  Error error = metric.error();
  error.message = "metric '" + std::string(name) + "': " + error.message;
  return error;
}

}  // namespace qfs::metrics
