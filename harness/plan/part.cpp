// Part of a plan: some of its cells and the trainings that they rest on.
#include <map>
#include <utility>
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

Plan plan_of_cells(Plan plan, std::span<const size_t> cells) {
  std::map<size_t, size_t> places;  // of trainings: index in the plan -> in the part
  for (size_t i : cells) {
    for (size_t training : trainings_behind(plan, plan.cells[i])) places.emplace(training, 0);
  }
  const auto move_here = [&](Cell& cell) {
    if (cell.training) cell.training = places.at(*cell.training);
  };
  std::vector<Training> trainings;
  for (auto& [training, place] : places) {
    place = trainings.size();
    move_here(trainings.emplace_back(std::move(plan.trainings[training])).cell);
  }
  std::vector<Cell> kept;
  for (size_t i : cells) move_here(kept.emplace_back(std::move(plan.cells[i])));
  plan.trainings = std::move(trainings);
  plan.cells = std::move(kept);
  return plan;
}

}  // namespace qfs::plan
