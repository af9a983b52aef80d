// The text about a table says what the store holds, and says so where it holds nothing.
#include "reports/methods_text.h"

#include <gtest/gtest.h>

#include "reports/report.h"
#include "tests/unit/reports/sample_sweep.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::reports {
namespace {

using test::SamplePlace;
using test::SampleSweep;
using test::value_of;

SamplePlace scored(const std::string& method, const std::string& params) {
  SamplePlace place;
  place.method = method;
  place.params = params;
  place.scores = {{"rouge1.f", 0.25, store::ScoreInterval{0.2, 0.3}}};
  return place;
}

MethodsText text_of(const SampleSweep& sweep, const std::vector<size_t>& positions,
                    ReportRequest request = {}) {
  store::Reader reader = sweep.reader();
  const SweepFacts facts = value_of(load_sweep_facts(reader, ""));
  std::vector<const PlaceFacts*> places;
  for (const size_t position : positions) places.push_back(&facts.places[position]);
  request.positions = positions;
  return value_of(methods_text(reader, facts, places, value_of(build_table(reader, request))));
}

std::string answer(const MethodsText& text, const std::string& item) {
  for (const auto& [asked, answer] : text.checklist) {
    if (asked == item) return answer;
  }
  return "(not asked)";
}

std::string sentence(const MethodsText& text, const std::string& begin) {
  for (const std::string& sentence : text.sentences) {
    if (sentence.starts_with(begin)) return sentence;
  }
  return "(not said)";
}

TEST(MethodsText, NamesTheParametersOfTheCellsThatAreShownAndNoOthers) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  sweep.add(scored("model", R"({"max_new_tokens":64,"prompt":"short","size":128})"));
  sweep.add(scored("model", R"({"max_new_tokens":64,"prompt":"short","size":256})"));
  sweep.add(scored("other", R"({"secretive":1})"));
  sweep.finish("");
  EXPECT_EQ(sentence(text_of(sweep, {0, 1}), "Methods"),
            "Methods: model: max_new_tokens 64, prompt short, size 128/256.");
  EXPECT_EQ(sentence(text_of(sweep, {1}), "Methods"),
            "Methods: model: max_new_tokens 64, prompt short, size 256.");
}

TEST(MethodsText, ALongPromptIsNamedByItsDigest) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  sweep.add(scored("model", R"({"prompt":"Line\nline"})"));
  sweep.finish("");
  // printf 'Line\nline' | sha256sum
  EXPECT_NE(sentence(text_of(sweep, {0}), "Methods")
                .find("prompt a text of 9 bytes (SHA-256 "
                      "78ad7a2bcbea32b3268e8296e76281a21e8434aec55b6779bbf9e30dcfc018ef)"),
            std::string::npos)
      << sentence(text_of(sweep, {0}), "Methods");
  EXPECT_TRUE(answer(text_of(sweep, {0}), "Prompts and other texts").ends_with("): Line\nline."));
}

TEST(MethodsText, WhatIsNotRecordedIsSaidToBeSo) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  sweep.add(scored("lead", "{}"));
  sweep.finish("");
  const MethodsText text = text_of(sweep, {0});
  EXPECT_TRUE(answer(text, "Data and licences").starts_with("demo: licence not recorded"));
  EXPECT_EQ(answer(text, "Significance tests"), "none in this table.");
  EXPECT_EQ(answer(text, "Training"), "(not asked)") << "nothing was trained";
  EXPECT_EQ(answer(text, "Machines that were timed"), "(not asked)") << "nothing was timed";
  EXPECT_EQ(answer(text, "Software"), "qfs-bench 0.1.0.");
  EXPECT_EQ(answer(text, "Examples left out"), "demo: 0 of 12 examples.");
}

TEST(MethodsText, TroubleSeedsOraclesAndConflictsAreNotHidden) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  for (uint64_t seed = 0; seed < 2; ++seed) {
    SamplePlace place = scored("model", "{}");
    place.seed = seed;
    sweep.add(place);
  }
  SamplePlace oracle = scored("oracle", "{}");
  oracle.oracle = true;
  sweep.add(oracle);
  SamplePlace dead = scored("dead", "{}");
  dead.scores.clear();
  dead.predictions = 3;
  dead.failure = store::FailureKind::signal;
  sweep.add(dead);
  sweep.finish("");
  sweep.contradict(0, 3);
  const MethodsText text = text_of(sweep, {0, 1, 2, 3});
  EXPECT_EQ(answer(text, "Failed or incomplete"), "1 of 4 cells: dead seed=0.");
  EXPECT_EQ(answer(text, "Answers seen by a method"), "references or evidence by oracle.");
  EXPECT_NE(answer(text, "Determinism").find(": 1."), std::string::npos);
  EXPECT_NE(answer(text, "Number of runs").find("2 of model (seed 0, 1)"), std::string::npos);
  EXPECT_NE(answer(text, "Error bars").find("standard deviation"), std::string::npos);
}

}  // namespace
}  // namespace qfs::reports
