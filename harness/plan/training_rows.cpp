// What a row of the sweep trains for another one.
#include <algorithm>
#include <string>
#include <vector>

#include "harness/core/suggest.h"
#include "harness/plan/training.h"

namespace qfs::plan {

Status TrainingPlanner::use_rows(Cell& cell, const MethodRow& row, uint64_t seed) {
  for (const auto& [role, label] : row.entry->artifact_rows) {
    const std::string where = at(row.entry->pointer + "/artifact/" + role);
    if (Status used = use_row(cell, role, label, seed, where); !used.ok()) return used;
  }
  return {};
}

Status TrainingPlanner::use_row(Cell& cell, const std::string& role, const std::string& label,
                                uint64_t seed, const std::string& where) {
  const std::string& method = cell.needs.made_by.at(role);
  const Cell* found = nullptr;
  for (const Cell& other : plan_.cells) {
    if (other.label != label || other.dataset != cell.dataset) continue;
    if (std::ranges::count(other.shown_seeds, seed) == 0) continue;
    if (other.spec->name() != method) {
      return invalid_argument("the row '" + label + "' is of the method '" +
                                  std::string(other.spec->name()) + "'; '" + role + "' is what '" +
                                  method + "' trains",
                              where);
    }
    const bool same = found != nullptr && found->training == other.training &&
                      found->artifacts == other.artifacts;
    if (found != nullptr && !same) {
      return invalid_argument("the row '" + label +
                                  "' has several trainings here; give the one that is meant a row "
                                  "of its own",
                              where);
    }
    found = &other;
  }
  if (found == nullptr) {
    std::vector<std::string> rows;
    for (const Cell& other : plan_.cells) {
      if (other.spec->name() == method && other.label != label) rows.push_back(other.label);
    }
    return not_found("no cell is of a row '" + label + "' that trains '" + role +
                         "' on this data set" + suggestion(label, rows) +
                         "; rows that a filter leaves out are not there",
                     where);
  }
  const auto model = cell.backbones.find(role);
  const auto its = found->backbones.find(role);
  const bool known = model != cell.backbones.end() && its != found->backbones.end();
  if (known && model->second.digest != its->second.digest) {
    return invalid_argument("the row '" + label + "' trains '" + role + "' over '" +
                                its->second.name + "', not over '" + model->second.name + "'",
                            where);
  }
  if (const auto file = found->artifacts.find(role); file != found->artifacts.end()) {
    cell.artifacts[role] = file->second;
  } else if (cell.training && cell.training != found->training) {
    return invalid_argument("two rows would train for it; name the file of one of them", where);
  } else {
    cell.training = found->training;
  }
  if (const auto origin = found->origins.find(role); origin != found->origins.end()) {
    cell.origins[role] = origin->second;
  }
  return {};
}

}  // namespace qfs::plan
