#include "harness/plan/expand.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "harness/core/suggest.h"
#include "harness/plan/param_values.h"
#include "harness/plan/rules.h"

namespace qfs::plan {

namespace {

/// Axes of the grid, and the length by which cells imply one another, are parameters of the
/// methods.
Status check_axes(const Experiment& experiment, std::span<const MethodRow> rows) {
  std::set<std::string> names;
  std::set<std::string> lengths;
  for (const MethodRow& row : rows) {
    for (const ParamSpec& spec : row.params) {
      names.insert(spec.name);
      if (spec.type == ParamType::integer) lengths.insert(spec.name);
    }
  }
  const std::vector<std::string> candidates(names.begin(), names.end());
  const auto& policy = experiment.out_of_memory;
  if (policy && !policy->implied_by.empty() && !lengths.contains(policy->implied_by)) {
    return invalid_argument(
        "no method of the sweep has a parameter '" + policy->implied_by +
            "' that is a whole number" +
            suggestion(policy->implied_by, std::vector(lengths.begin(), lengths.end())),
        place(experiment, policy->pointer + "/implied_by"));
  }
  for (const AxisGroup& group : experiment.grid) {
    for (const GridAxis& axis : group.axes) {
      if (!names.contains(axis.name)) {
        return invalid_argument("no method of the sweep has a parameter '" + axis.name + "'" +
                                    suggestion(axis.name, candidates),
                                place(experiment, axis.pointer));
      }
      for (const MethodRow& row : rows) {
        for (const NamedValue& given : row.entry->params) {
          if (given.name != axis.name) continue;
          return invalid_argument("'" + axis.name + "' is an axis of the grid too (" +
                                      axis.pointer + "): remove one of them",
                                  place(experiment, given.pointer));
        }
      }
    }
  }
  return {};
}

/// The axes of `group` that the method has.
std::vector<const GridAxis*> axes_of(const AxisGroup& group, const MethodRow& row) {
  std::vector<const GridAxis*> axes;
  for (const GridAxis& axis : group.axes) {
    if (find_param(row.params, axis.name) != nullptr) axes.push_back(&axis);
  }
  return axes;
}

/// Every combination of the method's axes, the last axis varying fastest; one empty combination for
/// a method without any. `limit` bounds their number.
Result<std::vector<std::vector<NamedValue>>> combinations(const Experiment& experiment,
                                                          const MethodRow& row, size_t limit) {
  std::vector<std::vector<NamedValue>> combined(1);
  for (const AxisGroup& group : experiment.grid) {
    const std::vector<const GridAxis*> axes = axes_of(group, row);
    if (axes.empty()) continue;
    const size_t values = axes.front()->values.size();
    if (combined.size() > limit / values) {
      return too_many_cells(experiment, axes.front()->pointer);
    }
    std::vector<std::vector<NamedValue>> next;
    next.reserve(combined.size() * values);
    for (const std::vector<NamedValue>& prefix : combined) {
      for (size_t i = 0; i < values; ++i) {
        next.push_back(prefix);
        for (const GridAxis* axis : axes) {
          next.back().push_back(
              {axis->name, axis->values[i], axis->pointer + "/" + std::to_string(i)});
        }
      }
    }
    combined = std::move(next);
  }
  return combined;
}

Result<std::vector<Draft>> grid_drafts(const Experiment& experiment,
                                       std::span<const MethodRow> rows) {
  const size_t copies = experiment.datasets.size() * experiment.seeds.size();
  std::vector<Draft> drafts;
  for (size_t method = 0; method < rows.size(); ++method) {
    const MethodRow& row = rows[method];
    const size_t limit = copies == 0 ? 0 : (kMostCells - drafts.size()) / copies;
    const auto combined = combinations(experiment, row, limit);
    if (!combined.ok()) return combined.error();
    if (combined->size() > limit) {
      return too_many_cells(experiment, row.entry->pointer);
    }
    const ResolutionPlace where{experiment.path, row.entry->pointer, std::string(row.spec->name())};
    std::vector<Params> resolved;
    for (const std::vector<NamedValue>& combination : *combined) {
      std::vector<NamedValue> given = row.entry->params;
      given.insert(given.end(), combination.begin(), combination.end());
      Result<Params> params = resolve_params(row.params, given, where);
      if (!params.ok()) return params.error();
      resolved.push_back(*std::move(params));
    }
    for (size_t dataset = 0; dataset < experiment.datasets.size(); ++dataset) {
      for (const Params& params : resolved) {
        for (uint64_t seed : experiment.seeds) drafts.push_back({method, dataset, seed, params});
      }
    }
  }
  return drafts;
}

}  // namespace

std::string place(const Experiment& experiment, const std::string& pointer) {
  return experiment.path + "#" + pointer;
}

Error too_many_cells(const Experiment& experiment, const std::string& pointer) {
  return invalid_argument("the sweep has more than " + std::to_string(kMostCells) + " cells",
                          place(experiment, pointer));
}

Error placed(Error error, const std::string& where) {
  if (error.where.empty()) error.where = where;
  return error;
}

Error placed_in_text(Error error, const Experiment& experiment, const MethodRow& row) {
  const size_t colon = std::min(error.where.find(':'), error.where.size());
  const std::string name = error.where.substr(0, colon);
  if (!name.empty() && find_param(row.params, name) == nullptr) return error;
  const std::string line = colon < error.where.size() ? error.where.substr(colon + 1) : "";
  const auto given = std::ranges::find(row.entry->params, name, &NamedValue::name);
  if (given != row.entry->params.end() && !given->file.empty()) {
    error.where = given->file + (line.empty() ? "" : ":" + line);
    return error;
  }
  const bool of_entry = given != row.entry->params.end();
  error.where = place(experiment, of_entry ? given->pointer : row.entry->pointer);
  if (!name.empty()) {
    error.message = (of_entry ? "" : "'" + name + "': ") +
                    (line.empty() ? "" : "line " + line + ": ") + error.message;
  }
  return error;
}

std::string dataset_name(const DatasetEntry& entry) {
  if (!entry.request.name.empty()) return entry.request.name;
  const std::filesystem::path path(entry.request.path);
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

CellFacts draft_facts(std::span<const MethodRow> rows, std::span<const std::string> dataset_names,
                      const Draft& draft) {
  const MethodRow& row = rows[draft.method];
  CellFacts facts;
  for (const auto& [name, value] : draft.params.values()) facts.emplace(name, value_text(value));
  facts.emplace("method", row.spec->name());
  facts.emplace("method", row.entry->method);
  facts.emplace("method", row.label);
  facts.emplace("label", row.label);
  facts.emplace("dataset", dataset_names[draft.dataset]);
  if (row.entry->backbone) facts.emplace("backbone", *row.entry->backbone);
  facts.emplace("seed", std::to_string(draft.seed));
  return facts;
}

Result<std::vector<Draft>> expand(const Experiment& experiment, std::span<const MethodRow> rows) {
  if (Status status = check_axes(experiment, rows); !status.ok()) return status.error();
  Result<std::vector<Draft>> drafts = grid_drafts(experiment, rows);
  if (!drafts.ok()) return drafts.error();
  if (Status s = apply_exclusions(experiment, rows, *drafts); !s.ok()) return s.error();
  if (Status s = apply_inclusions(experiment, rows, *drafts); !s.ok()) return s.error();
  if (drafts->empty()) {
    return invalid_argument("'exclude' leaves no cell", place(experiment, "/exclude"));
  }
  return drafts;
}

}  // namespace qfs::plan
