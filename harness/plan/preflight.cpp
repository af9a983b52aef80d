#include "harness/plan/preflight.h"

#include <algorithm>
#include <set>

#include "harness/api/fact_values.h"
#include "harness/core/suggest.h"
#include "harness/plan/param_values.h"

namespace qfs::plan {

namespace {

Status check_axes(const Experiment& experiment, std::span<const MethodRow> rows,
                  const TableSettings& report) {
  std::set<std::string> known = {"backbone", "cell", "dataset", "method", "seed", "tokenizer"};
  for (const MethodRow& row : rows) {
    for (const ParamSpec& spec : row.params) known.insert(spec.name);
  }
  const std::vector<std::string> candidates(known.begin(), known.end());
  const auto check = [&](const std::vector<std::string>& axes, const std::string& key) -> Status {
    for (size_t i = 0; i < axes.size(); ++i) {
      if (known.contains(axes[i]) || (axes[i] == kValuesAxis && key == "/columns/")) continue;
      return not_found(
          "no cell of the sweep has a '" + axes[i] + "'" + suggestion(axes[i], candidates),
          place(experiment, report.pointer + key + std::to_string(i)));
    }
    return {};
  };
  if (Status status = check(report.rows, "/rows/"); !status.ok()) return status;
  return check(report.columns, "/columns/");
}

Status check_value(const Experiment& experiment, const Metrics& metrics, const std::string& value,
                   const std::string& where) {
  const size_t slash = value.rfind('/');
  const bool qualified = slash != std::string::npos;
  if (!qualified && value.find('.') == std::string::npos) return {};
  if (value.starts_with(kFactValue)) return {};
  const std::string wanted = qualified ? value.substr(0, slash) : "";
  const std::string column = qualified ? value.substr(slash + 1) : value;
  std::vector<std::string> candidates;
  for (size_t i = 0; i < metrics.size(); ++i) {
    const std::string name = value_text(experiment.metrics[i].value);
    if (qualified && name != wanted) continue;
    for (const std::string& known : metrics[i]->columns()) {
      if (known == column) return {};
      candidates.push_back(qualified ? wanted + "/" + known : known);
    }
  }
  if (metrics.empty()) {
    return invalid_argument("'" + value + "' is of a metric; the sweep has no \"metrics\"", where);
  }
  return not_found(
      "no metric of the sweep has the column '" + value + "'" + suggestion(value, candidates),
      where);
}

/// Axes and values of a table.
Status check_shown(const Experiment& experiment, std::span<const MethodRow> rows,
                   const Metrics& metrics, const TableSettings& table) {
  if (Status status = check_axes(experiment, rows, table); !status.ok()) return status;
  for (size_t i = 0; i < table.values.size(); ++i) {
    const std::string where = place(experiment, table.pointer + "/values/" + std::to_string(i));
    const Status status = check_value(experiment, metrics, table.values[i], where);
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace

Result<Metrics> make_metrics(const Experiment& experiment, const MetricCatalog& catalog) {
  Metrics metrics;
  for (const NamedValue& named : experiment.metrics) {
    auto metric = catalog.make(value_text(named.value));
    if (!metric.ok()) return placed(metric.error(), place(experiment, named.pointer));
    metrics.push_back(*std::move(metric));
  }
  return metrics;
}

Status check_report(const Experiment& experiment, std::span<const MethodRow> rows,
                    const Metrics& metrics) {
  if (!experiment.report) return {};
  if (Status s = check_shown(experiment, rows, metrics, *experiment.report); !s.ok()) return s;
  std::vector<std::string> labels;
  for (const MethodRow& row : rows) labels.push_back(row.label);
  for (const PageSection& section : experiment.report->page) {
    if (Status s = check_shown(experiment, rows, metrics, section); !s.ok()) return s;
    if (section.against.empty() || std::ranges::count(labels, section.against) > 0) continue;
    return not_found(
        "no row is labelled '" + section.against + "'" + suggestion(section.against, labels),
        place(experiment, section.pointer + (section.minus ? "/minus" : "/against")));
  }
  return {};
}

Status check_metric_needs(const Experiment& experiment, const Metrics& metrics,
                          const PlannedDataset& dataset) {
  for (size_t i = 0; i < metrics.size(); ++i) {
    const MetricNeeds needs = metrics[i]->needs();
    for (int64_t ordinal : dataset.ordinals) {
      const Example& example = dataset.data->examples[static_cast<size_t>(ordinal)];
      const char* lacking = needs.references && example.references.empty() ? "references"
                            : needs.query && example.query.empty()         ? "a query"
                                                                           : nullptr;
      if (lacking == nullptr) continue;
      return invalid_argument("metric '" + std::string(metrics[i]->name()) + "' needs " + lacking +
                                  ", which example '" + example.key + "' of data set '" +
                                  dataset.name + "' has not",
                              place(experiment, experiment.metrics[i].pointer));
    }
  }
  return {};
}

}  // namespace qfs::plan
