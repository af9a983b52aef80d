// Part of a plan: some of its cells and the trainings that they rest on.
#include <map>
#include <vector>

#include "harness/plan/plan.h"

namespace qfs::plan {

std::vector<size_t> trainings_behind(const Plan& plan, const Cell& cell) {
  std::vector<size_t> behind;
  for (auto next = cell.training; next; next = plan.trainings[*next].cell.training) {
    behind.push_back(*next);
  }
  return behind;
}

Plan plan_of_cells(const Plan& plan, std::span<const size_t> cells) {
  Plan part = {.experiment = plan.experiment,
               .datasets = plan.datasets,
               .cells = {},
               .trainings = {},
               .training_data = plan.training_data,
               .metrics = plan.metrics,
               .notes = plan.notes,
               .undescribed = plan.undescribed};
  std::map<size_t, size_t> places;  // of trainings: index in the plan -> in the part
  for (size_t i : cells) {
    for (size_t training : trainings_behind(plan, plan.cells[i])) places.emplace(training, 0);
  }
  const auto point_here = [&](Cell& cell) {
    if (cell.training) cell.training = places.at(*cell.training);
  };
  for (auto& [training, place] : places) {
    place = part.trainings.size();
    point_here(part.trainings.emplace_back(plan.trainings[training]).cell);
  }
  for (size_t i : cells) point_here(part.cells.emplace_back(plan.cells[i]));
  return part;
}

}  // namespace qfs::plan
