// --filter and --rerun: which cells they keep.
#include "harness/plan/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/plan_fakes.h"

namespace qfs::plan {
namespace {

using testing::ElementsAre;

const std::string kSweep = test::sweep_text(
    R"({"method": "lead"}, {"method": "zero_shot", "label": "model", "backbone": "small",
        "temperature": 0.5})",
    R"("grid": {"local_context": [128, 256]}, "seeds": [0, 1])",
    R"({"name": "tiny"}, {"name": "other"})");

size_t count(const std::string& filter) {
  test::Planning planning;
  planning.filter = *parse_filter(filter);
  const Result<Plan> plan = planning(kSweep);
  if (!plan.ok()) ADD_FAILURE() << plan.error().to_string();
  return plan.ok() ? plan->cells.size() : 0;
}

std::string message(const std::string& filter) {
  test::Planning planning;
  planning.filter = *parse_filter(filter);
  const Result<Plan> plan = planning(kSweep);
  return plan.ok() ? "no error" : plan.error().to_string();
}

TEST(ParseFilter, ReadsConditions) {
  const Result<Filter> filter = parse_filter("method=lead, local_context = 256");
  ASSERT_TRUE(filter.ok());
  EXPECT_THAT(filter->conditions, ElementsAre(FilterCondition{"method", "lead"},
                                              FilterCondition{"local_context", "256"}));
  EXPECT_TRUE(parse_filter("")->empty());
}

TEST(ParseFilter, KeepsEqualsSignsOfTheValue) {
  EXPECT_THAT(parse_filter("prompt=a=b|=c")->conditions,
              ElementsAre(FilterCondition{"prompt", "a=b"}, FilterCondition{"prompt", "=c"}));
}

TEST(ParseFilter, ReadsSeveralValuesOfOneKey) {
  EXPECT_THAT(parse_filter("method=lead | bm25,seed=1")->conditions,
              ElementsAre(FilterCondition{"method", "lead"}, FilterCondition{"method", "bm25"},
                          FilterCondition{"seed", "1"}));
}

TEST(ParseFilter, ValuesInQuotationMarksStandAsTheyAre) {
  EXPECT_THAT(
      parse_filter(R"(label="日本, a|b" | plain, note = " say ""no"" ",seed=1)")->conditions,
      ElementsAre(FilterCondition{"label", "日本, a|b"}, FilterCondition{"label", "plain"},
                  FilterCondition{"note", " say \"no\" "}, FilterCondition{"seed", "1"}));
  for (const char* value : {"lead", "a b", "a=b"}) EXPECT_EQ(filter_value(value), value);
  for (const char* value : {"a, b", "a|b", " lead ", "\"quoted\"", "x\"y"}) {
    EXPECT_THAT(parse_filter("label=" + filter_value(value))->conditions,
                ElementsAre(FilterCondition{"label", value}));
  }
}

TEST(ParseFilter, RefusesPartsThatAreNotConditions) {
  for (const char* text : {"method", "method=", "=lead", "method=lead,", ",", "a=1,,b=2", "a=1|",
                           "a=|1", "a=1||2", "a=\"1", "a=\"1\"2", "a=\"\""}) {
    const Result<Filter> filter = parse_filter(text);
    ASSERT_FALSE(filter.ok()) << text;
    EXPECT_EQ(filter.error().kind, ErrorKind::invalid_argument);
    EXPECT_NE(filter.error().message.find("is not of the form key=value"), std::string::npos);
  }
}

// 2 methods x 2 contexts x 2 seeds x 2 data sets = 16 cells.
TEST(Filter, KeysAreMetTogetherAndValuesOfOneKeyInTurn) {
  EXPECT_EQ(count(""), 16u);
  EXPECT_EQ(count("method=lead"), 8u);
  EXPECT_EQ(count("method=lead,local_context=256"), 4u);
  EXPECT_EQ(count("method=lead,local_context=256,seed=1,dataset=other"), 1u);
  EXPECT_EQ(count("local_context=128,local_context=256"), 16u);
  EXPECT_EQ(count("local_context=128|256,seed=1"), 8u);
  EXPECT_EQ(count("label=model"), 8u);
  EXPECT_EQ(count("method=model"), 8u);
  EXPECT_EQ(count("backbone=small,seed=0"), 4u);
  EXPECT_EQ(count("temperature=5e-1"), 8u);
  EXPECT_EQ(count("greedy=true"), 8u);
}

TEST(Filter, NullIsMetByCellsWithoutTheKey) {
  EXPECT_EQ(count("temperature=null"), 8u);
  EXPECT_EQ(count("temperature=null,method=lead"), 8u);
  EXPECT_EQ(count("temperature=0.5|null,local_context=128"), 8u);
  EXPECT_EQ(message("local_context=null"),
            "filter: no cell has local_context=null (there are 128, 256)");
}

TEST(Filter, UnknownKeyIsAnErrorWithTheNearest) {
  EXPECT_EQ(message("local_contex=256"),
            "filter: no cell has a 'local_contex' (did you mean 'local_context'?)");
}

TEST(Filter, ThatKeepsNothingIsAnError) {
  EXPECT_EQ(message("method=lead,temperature=0.5"),
            "filter: none of the 16 cells meets all conditions");
}

TEST(Filter, AValueThatNoCellHasIsAnErrorWithTheNearest) {
  EXPECT_EQ(
      message("method=lead|leed"),
      "filter: no cell has method=leed; did you mean 'lead'? (there are lead, zero_shot, model)");
  EXPECT_EQ(message("local_context=1e2"),
            "filter: no cell has local_context=1e2 (there are 128, 256)");
}

TEST(Filter, WhatItLeavesOutIsNeitherLoadedNorResolved) {
  test::Planning planning;
  planning.filter = *parse_filter("method=lead,dataset=other");
  const Result<Plan> plan = planning(
      test::sweep_text(R"({"method": "lead"}, {"method": "zero_shot", "backbone": "absent"})", "",
                       R"({"name": "unknown"}, {"name": "other"})"));
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_THAT(planning.datasets.loaded, ElementsAre("other"));
  EXPECT_EQ(plan->datasets.size(), 1u);
  EXPECT_EQ(plan->cells[0].dataset, 0u);
}

TEST(MatchingCells, KnowOtherProgramsNamesAndValues) {
  static constexpr ForeignName kNames[] = {
      {"ngram_size", "ngram", ""}, {"max_time", "ngram", "this program does not compute it"}};
  static constexpr ForeignValue kValues[] = {{"early", "true", "yes"}};
  const std::vector<CellFacts> cells = {{{"ngram", "3"}, {"early", "yes"}}, {{"ngram", "0"}}};
  const auto matching = [&](const std::string& text, const std::vector<CellFacts>& all) {
    return matching_cells(*parse_filter(text, {kNames, kValues}), all);
  };
  EXPECT_THAT(*matching("ngram_size=3", cells), ElementsAre(0));
  EXPECT_THAT(*matching("early=true", cells), ElementsAre(0));
  EXPECT_EQ(matching("max_time=3", cells).error().message,
            "filter: there is no parameter 'max_time': this program does not compute it");
  // What a program calls its own is its own.
  const std::vector<CellFacts> own = {{{"ngram", "3"}, {"ngram_size", "4"}, {"early", "true"}}};
  EXPECT_THAT(*matching("ngram_size=4,early=true", own), ElementsAre(0));
}

TEST(MatchingCells, PassOverValuesThatNoCellHasWhereTheyAreAskedFor) {
  const std::vector<CellFacts> cells = {{{"method", "lead"}}, {{"method", "bm25"}}};
  std::vector<FilterCondition> absent;
  const auto matching = [&](const std::string& text) {
    absent.clear();
    return matching_cells(*parse_filter(text), cells, &absent);
  };
  EXPECT_THAT(*matching("method=oracle|bm25"), ElementsAre(1));
  EXPECT_THAT(absent, ElementsAre(FilterCondition{"method", "oracle"}));
  EXPECT_THAT(*matching("method=lead|bm25"), ElementsAre(0, 1));
  EXPECT_THAT(absent, ElementsAre());
  EXPECT_FALSE(matching("method=oracle|random").ok()) << "nothing of the key is there";
  EXPECT_FALSE(matching("method=lead,seed=1").ok()) << "another key's value is no replacement";
}

TEST(SelectCells, FindsTheCellsOfAPlan) {
  test::Planning planning;
  const Result<Plan> plan = planning(kSweep);
  ASSERT_TRUE(plan.ok());
  const auto selected = select_cells(
      *parse_filter("label=model,local_context=128,dataset=tiny,backbone=small"), *plan);
  ASSERT_TRUE(selected.ok()) << selected.error().to_string();
  ASSERT_EQ(selected->size(), 2u);
  for (size_t i : *selected) {
    EXPECT_EQ(plan->cells[i].label, "model");
    EXPECT_EQ(plan->cells[i].params.get<int64_t>("local_context"), 128);
    EXPECT_EQ(plan->datasets[plan->cells[i].dataset].name, "tiny");
  }
}

TEST(SelectCells, RefusesWhatMatchesNothing) {
  test::Planning planning;
  const Result<Plan> plan = planning(kSweep);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(select_cells(*parse_filter("seed=7"), *plan).error().to_string(),
            "filter: no cell has seed=7 (there are 0, 1)");
  EXPECT_EQ(select_cells(*parse_filter("sed=0"), *plan).error().to_string(),
            "filter: no cell has a 'sed' (did you mean 'seed'?)");
}

}  // namespace
}  // namespace qfs::plan
