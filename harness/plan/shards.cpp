#include "harness/plan/shards.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <utility>

#include "harness/core/whole_number.h"
#include "harness/plan/estimate.h"
#include "harness/plan/memory_kind.h"

namespace qfs::plan {
namespace {

/// Cells and trainings that run in one shard: indices into Plan::cells, then Plan::trainings.
class Groups {
 public:
  explicit Groups(size_t nodes) : parent_(nodes) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }

  /// The lowest node of its group.
  size_t find(size_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  void join(size_t a, size_t b) {
    const size_t first = find(a);
    const size_t second = find(b);
    parent_[std::max(first, second)] = std::min(first, second);
  }

 private:
  std::vector<size_t> parent_;
};

/// A part that is not torn apart.
struct Item {
  Shard part;
  size_t first = 0;
};

std::vector<Item> items_of(const Plan& plan, const RemainingSeconds& left) {
  const size_t cells = plan.cells.size();
  Groups groups(cells + plan.trainings.size());
  std::map<std::string_view, size_t> by_id;
  std::map<std::string, size_t> by_kind;
  for (size_t i = 0; i < cells; ++i) {
    if (!left.cells[i]) continue;
    const Cell& cell = plan.cells[i];
    groups.join(i, by_id.emplace(cell.id.hex(), i).first->second);
    if (cell.training && left.trainings[*cell.training]) groups.join(i, cells + *cell.training);
    if (const auto memory = memory_kind(plan, cell)) {
      groups.join(i, by_kind.emplace(memory->kind, i).first->second);
    }
  }
  by_id.clear();
  for (size_t i = 0; i < plan.trainings.size(); ++i) {
    if (!left.trainings[i]) continue;
    const Cell& cell = plan.trainings[i].cell;
    groups.join(cells + i, cells + by_id.emplace(cell.id.hex(), i).first->second);
    if (cell.training && left.trainings[*cell.training]) {
      groups.join(cells + i, cells + *cell.training);
    }
  }
  std::map<size_t, Item> items;
  for (size_t i = 0; i < cells; ++i) {
    if (!left.cells[i]) continue;
    Item& item = items[groups.find(i)];
    item.part.cells.push_back(i);
    item.part.seconds += *left.cells[i];
  }
  // A training that no cell waits for has no item: its group has no cell.
  for (size_t i = 0; i < plan.trainings.size(); ++i) {
    const auto item = items.find(groups.find(cells + i));
    if (!left.trainings[i] || item == items.end()) continue;
    item->second.part.trainings.push_back(i);
    item->second.part.seconds += *left.trainings[i];
  }
  std::vector<Item> list;
  for (auto& [first, item] : items) {
    item.first = first;
    list.push_back(std::move(item));
  }
  return list;
}

void append(Shard& shard, Shard part) {
  shard.cells.insert(shard.cells.end(), part.cells.begin(), part.cells.end());
  shard.trainings.insert(shard.trainings.end(), part.trainings.begin(), part.trainings.end());
  shard.seconds += part.seconds;
}

}  // namespace

RemainingSeconds all_seconds(const Plan& plan) {
  const Estimator estimator;
  RemainingSeconds left;
  for (const Cell& cell : plan.cells) left.cells.emplace_back(estimator.seconds(cell));
  for (const Training& training : plan.trainings) {
    left.trainings.emplace_back(estimator.seconds(training.cell));
  }
  return left;
}

std::vector<Shard> cut_shards(const Plan& plan, const RemainingSeconds& left, size_t count) {
  std::vector<Item> items = items_of(plan, left);
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return std::pair(-a.part.seconds, a.first) < std::pair(-b.part.seconds, b.first);
  });
  std::vector<Shard> shards(std::min(count, items.size()));
  using Load = std::pair<double, size_t>;  // seconds, index
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (size_t i = 0; i < shards.size(); ++i) loads.emplace(0.0, i);
  for (Item& item : items) {
    const size_t least = loads.top().second;
    loads.pop();
    append(shards[least], std::move(item.part));
    loads.emplace(shards[least].seconds, least);
  }
  for (Shard& shard : shards) {
    std::sort(shard.cells.begin(), shard.cells.end());
    std::sort(shard.trainings.begin(), shard.trainings.end());
  }
  return shards;
}

Result<ShardNumber> parse_shard_number(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash != text.npos) {
    const auto index = whole_number<size_t>(text.substr(0, slash));
    const auto count = whole_number<size_t>(text.substr(slash + 1));
    if (index && count && *index >= 1 && *index <= *count && *count <= kMostShards) {
      return ShardNumber{*index - 1, *count};
    }
  }
  return invalid_argument("expected a shard as I/N, for instance 1/8, with I from 1 to N; found '" +
                          std::string(text) + "'");
}

}  // namespace qfs::plan
