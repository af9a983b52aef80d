// What a host is given of the examples of a cell.
#include <gtest/gtest.h>

#include "harness/run/cell_run.h"
#include "tests/support/plan_fakes.h"

namespace qfs::run {
namespace {

/// The first example that a cell of `lead` with these documents is given, and its own.
std::pair<Example, Example> given(const std::string& documents) {
  test::Planning planning;
  planning.methods.spec("lead").needed.memory = true;
  planning.methods.spec("lead").needed.instruction = true;
  auto plan =
      planning(test::sweep_text(R"({"method": "lead", "documents": ")" + documents + R"("})"));
  EXPECT_TRUE(plan.ok()) << plan.error().to_string();
  const plan::Cell& cell = plan->cells.at(0);
  const host::RunRequest request = run_request(*plan, cell, 0, cell.units.at(0), false);
  const NumberedExample& first = request.examples.at(0);
  return {first.example,
          plan->datasets.at(0).data->examples.at(static_cast<size_t>(first.ordinal))};
}

TEST(RunRequest, HasTheDocumentThatTheRowAsksFor) {
  const auto [own, same] = given("own");
  EXPECT_EQ(own, same);
  const auto [other, whose] = given("other");
  EXPECT_NE(other.document, whose.document);
  EXPECT_TRUE(other.other_document.empty());
  const auto [mixed, kept] = given("other_memory");
  EXPECT_EQ(mixed.document, kept.document);
  EXPECT_EQ(mixed.other_document, other.document);
  EXPECT_FALSE(own.other_query);
  const auto [asked, asks] = given("other_instruction");
  EXPECT_EQ(asked.query, asks.query);
  EXPECT_EQ(asked.document, asks.document);
  ASSERT_TRUE(asked.other_query);
  EXPECT_NE(*asked.other_query, asks.query);
}

}  // namespace
}  // namespace qfs::run
