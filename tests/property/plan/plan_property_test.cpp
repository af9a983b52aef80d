// Laws of planning on random grids.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "harness/plan/shards.h"
#include "tests/support/plan_fakes.h"

namespace qfs::plan {
namespace {

/// Distinct values for an axis: at least one, all at least 100, the default of max_words.
std::vector<int> axis() {
  const auto values = *rc::gen::unique<std::vector<int>>(rc::gen::inRange(100, 140));
  return values.empty()
             ? std::vector<int>{100}
             : std::vector<int>(values.begin(), values.begin() + static_cast<int>(std::min<size_t>(
                                                                     values.size(), 5)));
}

std::string list(const std::vector<int>& values) {
  std::string text = "[";
  for (int value : values) {
    if (text.size() > 1) text.append(",");
    text.append(std::to_string(value));
  }
  return text.append("]");
}

const std::string kMethods =
    R"({"method": "lead"}, {"method": "random"}, {"method": "zero_shot", "backbone": "small"})";

std::set<CellId> ids(const Plan& plan) {
  std::set<CellId> all;
  for (const Cell& cell : plan.cells) all.insert(cell.id);
  return all;
}

Plan planned(const std::string& sweep, const std::string& path = "s.json") {
  test::Planning planning;
  Result<Plan> plan = planning(sweep, path);
  RC_ASSERT(plan.ok());
  return *std::move(plan);
}

std::string grid_text(const std::vector<int>& contexts, const std::vector<int>& tokens) {
  return R"("grid": {"local_context": )" + list(contexts) + R"(, "max_new_tokens": )" +
         list(tokens) + "}";
}

// lead has one of the axes, random none, zero_shot both.
RC_GTEST_PROP(Expansion, HasTheProductOfTheAxesOfEachMethod, ()) {
  const std::vector<int> contexts = axis();
  const std::vector<int> tokens = axis();
  const auto seeds = static_cast<size_t>(*rc::gen::inRange(1, 4));
  std::vector<int> seed_list;
  for (size_t i = 0; i < seeds; ++i) seed_list.push_back(static_cast<int>(i));
  const Plan plan = planned(
      test::sweep_text(kMethods, grid_text(contexts, tokens) + R"(, "seeds": )" + list(seed_list)));
  RC_ASSERT(plan.cells.size() == seeds * (contexts.size() + 1 + contexts.size() * tokens.size()));
  RC_ASSERT(ids(plan).size() == plan.cells.size());
}

RC_GTEST_PROP(Ids, DoNotDependOnKeyOrderAxisOrderOrPath, ()) {
  const std::vector<int> contexts = axis();
  const std::vector<int> tokens = axis();
  std::vector<int> reversed(contexts.rbegin(), contexts.rend());
  const Plan one = planned(test::sweep_text(kMethods, grid_text(contexts, tokens)));
  const Plan other = planned(
      R"({"grid": {"max_new_tokens": )" + list(tokens) + R"(, "local_context": )" + list(reversed) +
          R"(}, "methods": [{"backbone": "small", "method": "zero_shot"}, {"method": "random"},
             {"method": "lead"}], "datasets": [{"name": "tiny"}], "tokenizer": "words", "name": "t"})",
      "/some/where/else.json");
  RC_ASSERT(ids(one) == ids(other));
}

RC_GTEST_PROP(Exclude, RemovesExactlyTheCellsThatMatch, ()) {
  const std::vector<int> contexts = axis();
  const std::vector<int> tokens = axis();
  const int excluded = *rc::gen::elementOf(contexts);
  const std::string grid = grid_text(contexts, tokens);
  const Plan all = planned(test::sweep_text(kMethods, grid));
  const Plan rest = planned(test::sweep_text(
      kMethods, grid + R"(, "exclude": [{"local_context": )" + std::to_string(excluded) + "}]"));
  std::set<CellId> expected;
  for (const Cell& cell : all.cells) {
    if (cell.params.find<int64_t>("local_context") != excluded) expected.insert(cell.id);
  }
  RC_ASSERT(ids(rest) == expected);
}

RC_GTEST_PROP(Include, OfWhatWasExcludedRestoresTheSweep, ()) {
  const std::vector<int> contexts = axis();
  const int value = *rc::gen::elementOf(contexts);
  const std::string rule =
      R"([{"method": "lead", "local_context": )" + std::to_string(value) + "}]";
  const std::string grid = R"("grid": {"local_context": )" + list(contexts) + "}";
  const Plan all = planned(test::sweep_text(kMethods, grid));
  const Plan restored = planned(
      test::sweep_text(kMethods, grid + R"(, "exclude": )" + rule + R"(, "include": )" + rule));
  RC_ASSERT(ids(all) == ids(restored));
}

RC_GTEST_PROP(Order, KeepsCellsOfEqualWeightsTogether, ()) {
  const Plan plan = planned(test::sweep_text(
      kMethods + R"(, {"method": "zero_shot", "label": "big", "backbone": "large"})",
      grid_text(axis(), axis())));
  std::set<std::string> finished;
  for (size_t i = 1; i < plan.cells.size(); ++i) {
    const std::string& key = plan.cells[i].weights_key;
    if (key != plan.cells[i - 1].weights_key) finished.insert(plan.cells[i - 1].weights_key);
    RC_ASSERT(!finished.contains(key));
  }
}

RC_GTEST_PROP(Filter, PartsOfAnAxisMakeUpTheWhole, ()) {
  const std::vector<int> contexts = axis();
  const std::string sweep = test::sweep_text(
      R"({"method": "lead"})", R"("grid": {"local_context": )" + list(contexts) + "}");
  std::set<CellId> united;
  for (int context : contexts) {
    test::Planning planning;
    planning.filter = *parse_filter("local_context=" + std::to_string(context));
    const Result<Plan> part = planning(sweep);
    RC_ASSERT(part.ok());
    RC_ASSERT(part->cells.size() == 1u);
    united.insert(part->cells[0].id);
  }
  RC_ASSERT(united == ids(planned(sweep)));
}

// Longest processing time first is at most the mean and the longest part away from nothing.
RC_GTEST_PROP(Shards, HoldEveryMissingCellOnceAndAreBalanced, ()) {
  const Plan plan = planned(test::sweep_text(kMethods, grid_text(axis(), axis())));
  RemainingSeconds left;
  std::multiset<size_t> missing;
  double total = 0;
  double longest = 0;
  for (size_t i = 0; i < plan.cells.size(); ++i) {
    const int seconds = *rc::gen::inRange(0, 50);
    left.cells.push_back(seconds == 0 ? std::nullopt : std::optional<double>(seconds));
    if (seconds == 0) continue;
    missing.insert(i);
    total += seconds;
    longest = std::max<double>(longest, seconds);
  }
  const auto count = static_cast<size_t>(*rc::gen::inRange(1, 12));
  const std::vector<Shard> shards = cut_shards(plan, left, count);
  RC_ASSERT(shards.size() == std::min(count, missing.size()));
  std::multiset<size_t> held;
  for (const Shard& shard : shards) {
    RC_ASSERT(!shard.cells.empty());
    held.insert(shard.cells.begin(), shard.cells.end());
    RC_ASSERT(shard.seconds <= total / static_cast<double>(shards.size()) + longest);
  }
  RC_ASSERT(held == missing);
}

}  // namespace
}  // namespace qfs::plan
