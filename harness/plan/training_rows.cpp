// What a row of the sweep trains for another one.
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "harness/core/suggest.h"
#include "harness/plan/param_values.h"
#include "harness/plan/training.h"

namespace qfs::plan {

namespace {

/// Rows of the sweep whose trainings the row's cells, or (`begins`) their own training, rest on.
std::set<std::string> rows_named_by(const MethodEntry& entry, bool begins = true) {
  std::set<std::string> rows;
  for (const auto& [role, label] : entry.artifact_rows) rows.insert(label);
  if (!entry.training || !begins) return rows;
  for (const auto& [role, label] : entry.training->init_rows) rows.insert(label);
  return rows;
}

/// A circle among rows that wait for one another; `waiting`: a row and one that it waits for.
std::vector<std::string> circle_in(const std::map<std::string, std::string>& waiting) {
  std::string label = waiting.begin()->first;
  for (size_t i = 0; i < waiting.size(); ++i) label = waiting.at(label);
  std::vector<std::string> circle;
  while (std::ranges::count(circle, label) == 0) {
    circle.push_back(label);
    label = waiting.at(label);
  }
  return circle;
}

}  // namespace

Result<std::set<size_t>> with_trainers(const Drafts& drafts, std::span<const size_t> kept,
                                       const PlanContext& context) {
  const auto& [all, rows, facts] = drafts;
  std::set<size_t> chosen(kept.begin(), kept.end());
  const bool begin_with_rows = context.init.empty();
  if (std::ranges::all_of(rows, [&](const MethodRow& row) {
        return rows_named_by(*row.entry, begin_with_rows).empty();
      })) {
    return chosen;
  }
  Filter elsewhere = context.filter;  // what it says of others than the rows themselves
  std::erase_if(elsewhere.conditions, [](const FilterCondition& condition) {
    return condition.key == "label" || condition.key == "method";
  });
  const Result<std::vector<size_t>> alike = matching_cells(elsewhere, facts);
  if (!alike.ok()) return alike.error();
  using Place = std::tuple<std::string, size_t, uint64_t>;  // label, data set, seed
  const auto place = [&](size_t i) {
    return Place(rows[all[i].method].label, all[i].dataset, all[i].seed);
  };
  std::map<Place, std::vector<size_t>> trainers;  // of each place the alike ones, else all
  for (size_t i : *alike) trainers[place(i)].push_back(i);
  std::map<Place, std::vector<size_t>> others;
  for (size_t i = 0; i < all.size(); ++i) others[place(i)].push_back(i);
  trainers.merge(others);
  std::set<Place> there;
  for (size_t i : chosen) there.insert(place(i));
  std::vector<size_t> open(kept.begin(), kept.end());
  while (!open.empty()) {
    const Draft& draft = all[open.back()];
    open.pop_back();
    for (const std::string& label : rows_named_by(*rows[draft.method].entry, begin_with_rows)) {
      const Place wanted(label, draft.dataset, draft.seed);
      if (!trainers.contains(wanted) || !there.insert(wanted).second) continue;
      for (size_t i : trainers.at(wanted)) {
        chosen.insert(i);
        open.push_back(i);
      }
    }
  }
  return chosen;
}

Result<std::map<std::string, size_t>> training_rounds(const Experiment& experiment,
                                                      std::span<const MethodRow> rows,
                                                      const std::set<std::string>& labels) {
  std::map<std::string, size_t> rounds;
  for (size_t round = 0; rounds.size() < labels.size(); ++round) {
    std::map<std::string, std::string> waiting;
    for (const MethodRow& row : rows) {
      if (!labels.contains(row.label) || rounds.contains(row.label)) continue;
      for (const std::string& label : rows_named_by(*row.entry)) {
        if (labels.contains(label) && !rounds.contains(label)) waiting[row.label] = label;
      }
    }
    if (rounds.size() + waiting.size() == labels.size()) {
      const std::vector<std::string> circle = circle_in(waiting);
      const auto row = std::ranges::find(rows, circle.front(), &MethodRow::label);
      return invalid_argument(
          "what a row rests on is trained before it; in a circle are " + quoted_list(circle),
          place(experiment, row->entry->pointer));
    }
    for (const std::string& label : labels) {
      if (!waiting.contains(label)) rounds.emplace(label, round);
    }
  }
  return rounds;
}

Result<const Cell*> TrainingPlanner::find_row(const Cell& cell, const TrainedRow& row) const {
  const auto trains = [&](const Cell& other) {
    return std::ranges::count(row.methods, other.spec->name()) > 0;
  };
  const Cell* found = nullptr;
  for (const Cell& other : plan_.cells) {
    if (other.label != row.label || other.dataset != cell.dataset) continue;
    if (std::ranges::count(other.shown_seeds, row.seed) == 0) continue;
    if (!trains(other)) {
      return invalid_argument("the row '" + row.label + "' is of the method '" +
                                  std::string(other.spec->name()) + "'; '" + row.role +
                                  "' is what '" + row.methods.front() + "' trains",
                              row.where);
    }
    const bool same = found != nullptr && found->training == other.training &&
                      found->artifacts == other.artifacts;
    if (found != nullptr && !same) {
      return invalid_argument("the row '" + row.label +
                                  "' has several trainings here; give the one that is meant a row "
                                  "of its own, or name parameters that both rows have in a filter",
                              row.where);
    }
    found = &other;
  }
  if (found != nullptr) return found;
  std::vector<std::string> rows;
  for (const Cell& other : plan_.cells) {
    const bool itself = other.label == row.label || other.label == cell.label;
    if (trains(other) && !itself) rows.push_back(other.label);
  }
  return not_found("no cell is of a row '" + row.label + "' that trains '" + row.role +
                       "' on this data set" + suggestion(row.label, rows),
                   row.where);
}

Status TrainingPlanner::use_rows(Cell& cell, const MethodRow& row, uint64_t seed) {
  for (const auto& [role, label] : row.entry->artifact_rows) {
    const std::string where = at(row.entry->pointer + "/artifact/" + role);
    const TrainedRow trained{role, label, {cell.needs.made_by.at(role)}, seed, where};
    if (Status used = use_row(cell, trained); !used.ok()) return used;
  }
  return {};
}

Status TrainingPlanner::use_row(Cell& cell, const TrainedRow& row) const {
  const Result<const Cell*> other = find_row(cell, row);
  if (!other.ok()) return other.error();
  const Cell& found = **other;
  const auto model = cell.backbones.find(row.role);
  const auto its = found.backbones.find(row.role);
  const bool known = model != cell.backbones.end() && its != found.backbones.end();
  if (known && model->second.digest != its->second.digest) {
    return invalid_argument("the row '" + row.label + "' trains '" + row.role + "' over '" +
                                its->second.name + "', not over '" + model->second.name + "'",
                            row.where);
  }
  if (const auto file = found.artifacts.find(row.role); file != found.artifacts.end()) {
    cell.artifacts[row.role] = file->second;
  } else if (cell.training && cell.training != found.training) {
    return invalid_argument("two rows would train for it; name the file of one of them", row.where);
  } else {
    cell.training = found.training;
  }
  if (const auto origin = found.origins.find(row.role); origin != found.origins.end()) {
    cell.origins[row.role] = origin->second;
  }
  return {};
}

Status TrainingPlanner::begin_with_row(const Cell& cell, const TrainedRow& row, Training& training,
                                       std::map<std::string, std::string>& files) const {
  Cell& learning = training.cell;
  if (std::ranges::count(learning.needs.artifacts, row.role) == 0) {
    return invalid_argument("method '" + row.methods.front() + "' trains no '" + row.role +
                                "' that another row could begin" +
                                suggestion(row.role, learning.needs.artifacts),
                            row.where);
  }
  const Result<const Cell*> other = find_row(cell, row);
  if (!other.ok()) return other.error();
  const Cell& found = **other;
  // Where another method begins it, it may have models of its own besides.
  std::vector<std::pair<const Resource*, const Resource*>> models;  // its own, this training's
  if (cell.backbone && found.backbone) models.emplace_back(&*found.backbone, &*cell.backbone);
  for (const auto& [role, model] : cell.backbones) {
    const auto its = found.backbones.find(role);
    if (its != found.backbones.end()) models.emplace_back(&its->second, &model);
  }
  for (const auto& [its, own] : models) {
    if (its->digest == own->digest) continue;
    return invalid_argument(
        "the row '" + row.label + "' trains over '" + its->name + "', not over '" + own->name + "'",
        row.where);
  }
  if (const auto file = found.artifacts.find(row.role); file != found.artifacts.end()) {
    files[row.role] = file->second.path;  // which is looked at as if it were named here
    return {};
  }
  const auto origin = found.origins.find(row.role);
  if (!found.training || origin == found.origins.end() ||
      origin->second != plan_.trainings[*found.training].cell.id.hex()) {
    return invalid_argument("the row '" + row.label + "' trains no '" + row.role + "'", row.where);
  }
  if (learning.training && learning.training != found.training) {
    return invalid_argument("two rows would train what it begins with; name the file of one",
                            row.where);
  }
  const Params& recipe = plan_.trainings[*found.training].cell.params;
  if (Status fits = cell.spec->check_init(learning.params, recipe); !fits.ok()) {
    return invalid_argument(
        "cannot begin with what the row '" + row.label + "' trains: " + fits.error().message,
        row.where);
  }
  learning.training = found.training;
  learning.origins[row.role] = origin->second;
  return {};
}

}  // namespace qfs::plan
