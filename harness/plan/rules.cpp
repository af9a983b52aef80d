#include "harness/plan/rules.h"

#include <algorithm>
#include <optional>
#include <set>

#include "harness/core/suggest.h"
#include "harness/plan/param_values.h"

namespace qfs::plan {

namespace {

/// A rule with its conditions sorted out.
struct Conditions {
  std::optional<std::string> method;
  std::optional<std::string> label;
  std::optional<std::string> dataset;
  std::optional<uint64_t> seed;
  std::vector<NamedValue> params;
};

/// The names that a rule may use.
struct Vocabulary {
  std::set<std::string> methods, labels, datasets, params;
  std::vector<std::string> dataset_names;  // by index of Experiment::datasets
};

Vocabulary vocabulary(const Experiment& experiment, std::span<const MethodRow> rows) {
  Vocabulary words;
  for (const MethodRow& row : rows) {
    words.methods.insert(row.entry->method);
    words.methods.emplace(row.spec->name());
    words.labels.insert(row.label);
    for (const ParamSpec& spec : row.params) words.params.insert(spec.name);
  }
  for (const DatasetEntry& entry : experiment.datasets) {
    words.dataset_names.push_back(dataset_name(entry));
  }
  words.datasets.insert(words.dataset_names.begin(), words.dataset_names.end());
  return words;
}

Status check_known(const std::string& what, const std::string& name,
                   const std::set<std::string>& known, const std::string& where) {
  if (known.contains(name)) return {};
  const std::vector<std::string> candidates(known.begin(), known.end());
  return not_found(
      "no " + what + " of the sweep is called '" + name + "'" + suggestion(name, candidates),
      where);
}

Status check_parameter(const std::string& name, const Vocabulary& words, const std::string& where) {
  if (words.params.contains(name)) return {};
  std::vector<std::string> candidates = {"dataset", "label", "method", "seed"};
  candidates.insert(candidates.end(), words.params.begin(), words.params.end());
  return invalid_argument(
      "no method of the sweep has a parameter '" + name + "'" + suggestion(name, candidates),
      where);
}

Result<Conditions> conditions_of(const Experiment& experiment, const GridRule& rule,
                                 const Vocabulary& words) {
  Conditions conditions;
  for (const NamedValue& value : rule.values) {
    const std::string where = place(experiment, value.pointer);
    Status status;
    if (value.name == "method") {
      conditions.method = value_text(value.value);
      status = check_known("method", *conditions.method, words.methods, where);
    } else if (value.name == "label") {
      conditions.label = value_text(value.value);
      status = check_known("row", *conditions.label, words.labels, where);
    } else if (value.name == "dataset") {
      conditions.dataset = value_text(value.value);
      status = check_known("data set", *conditions.dataset, words.datasets, where);
    } else if (value.name == "seed") {
      conditions.seed = static_cast<uint64_t>(std::get<int64_t>(value.value));
    } else {
      conditions.params.push_back(value);
      status = check_parameter(value.name, words, where);
    }
    if (!status.ok()) return status.error();
  }
  return conditions;
}

bool names_row(const Conditions& conditions, const MethodRow& row) {
  if (conditions.label && *conditions.label != row.label) return false;
  return !conditions.method || *conditions.method == row.spec->name() ||
         *conditions.method == row.entry->method;
}

bool meets(const Conditions& conditions, const Draft& draft, const MethodRow& row,
           const std::string& dataset) {
  if (!names_row(conditions, row)) return false;
  if (conditions.dataset && *conditions.dataset != dataset) return false;
  if (conditions.seed && *conditions.seed != draft.seed) return false;
  return std::all_of(conditions.params.begin(), conditions.params.end(), [&](const auto& wanted) {
    const auto it = draft.params.values().find(wanted.name);
    return it != draft.params.values().end() && same_value(it->second, wanted.value);
  });
}

bool has_all(const MethodRow& row, const std::vector<NamedValue>& params) {
  return std::all_of(params.begin(), params.end(), [&](const NamedValue& value) {
    return find_param(row.params, value.name) != nullptr;
  });
}

/// The drafts that an inclusion adds for one method.
Status include_row(const Experiment& experiment, const Conditions& conditions, const MethodRow& row,
                   size_t method, const Vocabulary& words, std::vector<Draft>& drafts) {
  std::vector<NamedValue> given = row.entry->params;
  given.insert(given.end(), conditions.params.begin(), conditions.params.end());
  const ResolutionPlace where{experiment.path, row.entry->pointer, std::string(row.spec->name())};
  const Result<Params> params = resolve_params(row.params, given, where);
  if (!params.ok()) return params.error();
  const std::vector<uint64_t> seeds =
      conditions.seed ? std::vector<uint64_t>{*conditions.seed} : experiment.seeds;
  for (size_t dataset = 0; dataset < words.dataset_names.size(); ++dataset) {
    if (conditions.dataset && *conditions.dataset != words.dataset_names[dataset]) continue;
    if (drafts.size() + seeds.size() > kMostCells) {
      return too_many_cells(experiment, row.entry->pointer);
    }
    for (uint64_t seed : seeds) drafts.push_back({method, dataset, seed, *params});
  }
  return {};
}

}  // namespace

Status apply_exclusions(const Experiment& experiment, std::span<const MethodRow> rows,
                        std::vector<Draft>& drafts) {
  if (experiment.exclude.empty()) return {};
  const Vocabulary words = vocabulary(experiment, rows);
  std::vector<bool> excluded(drafts.size(), false);
  for (const GridRule& rule : experiment.exclude) {
    const Result<Conditions> conditions = conditions_of(experiment, rule, words);
    if (!conditions.ok()) return conditions.error();
    bool any = false;
    for (size_t i = 0; i < drafts.size(); ++i) {
      const Draft& draft = drafts[i];
      if (excluded[i] ||
          !meets(*conditions, draft, rows[draft.method], words.dataset_names[draft.dataset])) {
        continue;
      }
      excluded[i] = true;
      any = true;
    }
    if (!any) {
      return invalid_argument("this rule excludes nothing (that is not excluded already)",
                              place(experiment, rule.pointer));
    }
  }
  std::vector<Draft> kept;
  for (size_t i = 0; i < drafts.size(); ++i) {
    if (!excluded[i]) kept.push_back(std::move(drafts[i]));
  }
  drafts = std::move(kept);
  return {};
}

Status apply_inclusions(const Experiment& experiment, std::span<const MethodRow> rows,
                        std::vector<Draft>& drafts) {
  if (experiment.include.empty()) return {};
  const Vocabulary words = vocabulary(experiment, rows);
  for (const GridRule& rule : experiment.include) {
    const Result<Conditions> conditions = conditions_of(experiment, rule, words);
    if (!conditions.ok()) return conditions.error();
    const bool named = conditions->method || conditions->label;
    const size_t before = drafts.size();
    for (size_t method = 0; method < rows.size(); ++method) {
      const MethodRow& row = rows[method];
      if (!names_row(*conditions, row)) continue;
      if (!named && !has_all(row, conditions->params)) continue;
      const Status status = include_row(experiment, *conditions, row, method, words, drafts);
      if (!status.ok()) return status;
    }
    if (drafts.size() == before) {
      return invalid_argument("this rule includes nothing: no method meets it",
                              place(experiment, rule.pointer));
    }
  }
  return {};
}

}  // namespace qfs::plan
