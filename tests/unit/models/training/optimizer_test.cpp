// What one step does to values: where epsilon stands, and tensors that learn at rates of their own.
#include "methods/models/training/optimizer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace qfs::training {
namespace {

/// Two steps with these gradients, in double precision.
double moved(double value, double first, double second, const Recipe& recipe, double factor) {
  double m = 0;
  double v = 0;
  int64_t step = 0;
  for (const double gradient : {first, second}) {
    ++step;
    m = recipe.beta1 * m + (1 - recipe.beta1) * gradient;
    v = recipe.beta2 * v + (1 - recipe.beta2) * gradient * gradient;
    const double m_share = 1 - std::pow(recipe.beta1, static_cast<double>(step));
    const double v_share = 1 - std::pow(recipe.beta2, static_cast<double>(step));
    const double root = recipe.epsilon_first ? (std::sqrt(v) + recipe.epsilon) / std::sqrt(v_share)
                                             : std::sqrt(v / v_share) + recipe.epsilon;
    value -= recipe.learning_rate * factor * m / m_share / root;
  }
  return value;
}

TEST(TrainedTensors, epsilon_stands_where_the_recipe_says) {
  for (const bool first : {false, true}) {
    Recipe recipe{.steps = 10, .learning_rate = 0.1, .schedule = Schedule::constant};
    recipe.epsilon = 1e-3;
    recipe.epsilon_first = first;
    TrainedTensors trained({{"a", at::full({2}, 1.0F)}});
    const double gradients[] = {2e-3, -5e-3};
    for (int64_t step = 0; step < 2; ++step) {
      trained.tensors().at("a").grad().fill_(gradients[step]);
      trained.step(recipe, step, 1);
    }
    EXPECT_NEAR(trained.values()[1].item<double>(), moved(1, 2e-3, -5e-3, recipe, 1), 1e-6);
  }
}

TEST(TrainedTensors, prefixes_have_rates_of_their_own) {
  Recipe recipe{.steps = 10, .learning_rate = 0.1, .schedule = Schedule::constant};
  recipe.rate_factors = {{"b.", 0.25}, {"d", 0}};
  TrainedTensors trained({{"a", at::full({2}, 1.0F)},
                          {"b.x", at::full({3}, 1.0F)},
                          {"b.y", at::full({1}, 1.0F)},
                          {"c", at::full({2}, 1.0F)},
                          {"d", at::full({1}, 1.0F)}});
  for (int64_t step = 0; step < 2; ++step) {
    for (const auto& [name, tensor] : trained.tensors()) tensor.grad().fill_(1);
    trained.step(recipe, step, 1);
  }
  const auto value = [&](const char* name) {
    return trained.tensors().at(name).flatten()[0].item<double>();
  };
  EXPECT_NEAR(value("a"), moved(1, 1, 1, recipe, 1), 1e-6);
  EXPECT_NEAR(value("b.x"), moved(1, 1, 1, recipe, 0.25), 1e-6);
  EXPECT_NEAR(value("b.y"), moved(1, 1, 1, recipe, 0.25), 1e-6);
  EXPECT_NEAR(value("c"), moved(1, 1, 1, recipe, 1), 1e-6);
  EXPECT_EQ(value("d"), 1);
}

/// Sets gradients that differ from step to step.
void set_gradients(TrainedTensors& trained, const std::string& name, int64_t step) {
  at::Tensor gradient = trained.tensors().at(name).grad();
  gradient.copy_(at::arange(1, 1 + gradient.numel()).view(gradient.sizes()).cos() *
                 static_cast<double>(step + 1));
}

TEST(TrainedTensors, steps_are_counted_by_tensor_and_those_without_it_leave_it) {
  Recipe recipe{.steps = 10, .learning_rate = 0.1, .schedule = Schedule::constant};
  recipe.weight_decay = 0.1;
  recipe.rate_factors = {{"c", 0.5}};
  const NamedTensors begin = {
      {"a", at::full({2, 3}, 1.0F)}, {"b", at::full({2, 5}, 2.0F)}, {"c", at::full({1, 4}, 3.0F)}};
  // Which tensors take part, by step.
  const std::vector<std::string> steps = {"ac", "ac", "a", "abc", "b", "abc"};
  TrainedTensors trained(begin);
  std::map<std::string, TrainedTensors> alone;
  std::map<std::string, int64_t> taken;
  for (const auto& [name, tensor] : begin) alone.emplace(name, NamedTensors{{name, tensor}});
  for (int64_t step = 0; step < 6; ++step) {
    trained.zero_gradients();
    const std::string& names = steps[static_cast<size_t>(step)];
    for (const char letter : names) {
      const std::string name(1, letter);
      set_gradients(trained, name, step);
      set_gradients(alone.at(name), name, step);
      alone.at(name).step(recipe, taken[name]++, 1);
    }
    trained.step(recipe, step, 1,
                 [&](const std::string& name) { return names.find(name) != std::string::npos; });
  }
  for (const auto& [name, tensor] : trained.tensors()) {
    EXPECT_TRUE(at::allclose(tensor, alone.at(name).tensors().at(name), 1e-6, 1e-7)) << name;
    EXPECT_FALSE(at::allclose(tensor, begin.at(name))) << name;
  }
  EXPECT_EQ(trained.steps_passed(), (std::map<std::string, int64_t>{{"a", 1}, {"b", 3}, {"c", 2}}));
}

TEST(TrainedTensors, that_all_take_part_is_the_same_said_or_not) {
  Recipe recipe{.steps = 10, .learning_rate = 0.1};
  const NamedTensors begin = {{"a", at::full({3, 7}, 1.0F)}, {"b", at::full({13}, 2.0F)}};
  TrainedTensors said(begin);
  TrainedTensors unsaid(begin);
  for (int64_t step = 0; step < 4; ++step) {
    for (const char* name : {"a", "b"}) {
      set_gradients(said, name, step);
      set_gradients(unsaid, name, step);
    }
    said.step(recipe, step, 0.5, [](const std::string&) { return true; });
    unsaid.step(recipe, step, 0.5);
  }
  EXPECT_TRUE(at::equal(said.values(), unsaid.values()));
  EXPECT_TRUE(said.steps_passed().empty());
}

}  // namespace
}  // namespace qfs::training
