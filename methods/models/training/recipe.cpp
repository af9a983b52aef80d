#include "methods/models/training/recipe.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "harness/core/rng.h"

namespace qfs::training {

namespace {

std::vector<int64_t> epoch_order(const Recipe& recipe, int64_t examples, int64_t epoch) {
  std::vector<int64_t> order(static_cast<size_t>(examples));
  std::iota(order.begin(), order.end(), int64_t{0});
  if (recipe.order == DataOrder::shuffled) {
    Rng::derived(recipe.seed, "data_order", static_cast<uint64_t>(epoch)).shuffle(order);
  }
  return order;
}

}  // namespace

int64_t epoch_examples(const Recipe& recipe, int64_t examples) {
  if (!recipe.whole_batches) return examples;
  return std::max(recipe.batch_size, examples / recipe.batch_size * recipe.batch_size);
}

std::vector<int64_t> batch_of(const Recipe& recipe, int64_t examples, int64_t step) {
  std::vector<int64_t> batch;
  const int64_t first = step * recipe.batch_size;
  const int64_t read = epoch_examples(recipe, examples);
  int64_t epoch = -1;
  std::vector<int64_t> order;
  for (int64_t i = first; i < first + recipe.batch_size; ++i) {
    if (i / read != epoch) order = epoch_order(recipe, examples, epoch = i / read);
    batch.push_back(order[static_cast<size_t>(i % read % examples)]);
  }
  return batch;
}

bool ends_epoch(const Recipe& recipe, int64_t examples, int64_t steps) {
  const int64_t read = steps * recipe.batch_size;
  const int64_t epoch = epoch_examples(recipe, examples);
  return read / epoch > (read - recipe.batch_size) / epoch;
}

double learning_rate_at(const Recipe& recipe, int64_t step) {
  const int64_t warmup = recipe.warmup_steps;
  if (step < warmup) {
    const int64_t done = recipe.warmup_from_zero ? step : step + 1;
    return recipe.learning_rate * static_cast<double>(done) / static_cast<double>(warmup);
  }
  const double done = static_cast<double>(step - warmup) /
                      static_cast<double>(std::max<int64_t>(1, recipe.steps - warmup));
  switch (recipe.schedule) {
    case Schedule::constant:
      return recipe.learning_rate;
    case Schedule::linear:
      return recipe.learning_rate * (1 - done);
    case Schedule::cosine:
      return recipe.learning_rate * (1 + std::cos(std::numbers::pi * done)) / 2;
  }
  return recipe.learning_rate;
}

std::vector<std::vector<size_t>> micro_batches(const std::vector<int64_t>& tokens,
                                               int64_t micro_tokens) {
  std::vector<size_t> order(tokens.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](size_t i) { return tokens[i]; });
  std::vector<std::vector<size_t>> parts;
  int64_t sum = 0;
  for (const size_t i : order) {
    if (parts.empty() || sum + tokens[i] > micro_tokens) {
      parts.emplace_back();
      sum = 0;
    }
    parts.back().push_back(i);
    sum += tokens[i];
  }
  return parts;
}

}  // namespace qfs::training
