// The table of a paper, byte for byte in every format: seeds, bold, significance, oracle, trouble.
#include <gtest/gtest.h>

#include "reports/methods_text.h"
#include "reports/report.h"
#include "reports/writers/csv.h"
#include "reports/writers/json.h"
#include "reports/writers/latex.h"
#include "reports/writers/markdown.h"
#include "tests/support/golden.h"
#include "tests/unit/reports/sample_sweep.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::reports {
namespace {

using test::SamplePlace;
using test::SampleSweep;
using test::value_of;

constexpr int64_t kMebibyte = int64_t{1} << 20;

SamplePlace place(const std::string& method, double one, double l) {
  SamplePlace place;
  place.method = method;
  place.scores = {{"rouge1.f", one, store::ScoreInterval{one - 0.02, one + 0.02}},
                  {"rougeL.f", l, store::ScoreInterval{l - 0.01, l + 0.01}}};
  place.measured = true;
  place.timing = test::SampleTiming{.decode_ns = {2'000'000'000},
                                    .decode_tokens = 60,
                                    .total_ns = {1, 2, 3},
                                    .host_bytes = {40 * kMebibyte, 42 * kMebibyte, 41 * kMebibyte}};
  place.timing->decode_ns = {2'000'000'000, 1'900'000'000, 2'100'000'000};
  return place;
}

/// bm25 is better than lead by far, textrank is not, though it prints the same as bm25 in rougeL;
/// a model of three seeds; an oracle; a program of which one seed died.
class PaperGolden : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    sweep_ = new SampleSweep("paper_demo");
    sweep_->add_dataset("demo-meetings", 12);
    sweep_->add(place("lead", 0.3, 0.2));
    sweep_->add(place("bm25", 0.3352, 0.214));
    SamplePlace textrank = place("textrank", 0.31, 0.21396);
    for (test::SampleScore& score : textrank.scores) score.wobble = 0.2;
    sweep_->add(textrank);
    SamplePlace oracle = place("oracle", 0.6, 0.5);
    oracle.oracle = true;
    sweep_->add(oracle);
    for (uint64_t seed = 0; seed < 3; ++seed) {
      SamplePlace model = place("lora", 0.33 + 0.005 * static_cast<double>(seed), 0.19);
      model.label = "LoRA & 50%";
      model.seed = seed;
      sweep_->add(model);
      model.label = "mine";
      model.method = "external";
      if (seed == 1) model.predictions = 0;
      if (seed == 1) model.failure = store::FailureKind::signal;
      if (seed == 1) model.scores.clear();
      sweep_->add(model);
    }
    sweep_->finish(R"({"rows":["method"],"columns":["values"],"values":
                       ["rouge1.f","rougeL.f","peak_memory","tokens_per_second"]})");
  }

  static void TearDownTestSuite() {
    delete sweep_;
    sweep_ = nullptr;
  }

  static MethodsText methods() {
    store::Reader reader = sweep_->reader();
    const SweepFacts facts = value_of(load_sweep_facts(reader, ""));
    std::vector<const PlaceFacts*> places;
    for (const PlaceFacts& place : facts.places) places.push_back(&place);
    return value_of(methods_text(reader, facts, places, table()));
  }

  static Table table() {
    store::Reader reader = sweep_->reader();
    ReportRequest request;
    request.program = "qfs-bench v0.1.0";
    request.store_name = "results.sqlite";
    request.against = "lead";
    return value_of(build_table(reader, request));
  }

  static SampleSweep* sweep_;
};

SampleSweep* PaperGolden::sweep_ = nullptr;

TEST_F(PaperGolden, Markdown) {
  test::expect_golden("tests/golden/reports/paper.md", write_markdown(table()));
}

TEST_F(PaperGolden, Latex) {
  test::expect_golden("tests/golden/reports/paper.tex", write_latex(table()));
}

TEST_F(PaperGolden, LatexOfSeveralTablesAndOfHeadingsWithLevels) {
  store::Reader reader = sweep_->reader();
  ReportRequest request;
  request.values = std::vector<std::string>{"rouge1.f", "rougeL.f"};
  request.rows = std::vector<std::string>{"dataset", "method"};
  request.columns = std::vector<std::string>{"seed"};
  const std::string several = write_latex(value_of(build_table(reader, request)));
  request.columns = std::vector<std::string>{"values", "seed"};
  test::expect_golden("tests/golden/reports/levels.tex",
                      several + write_latex(value_of(build_table(reader, request))));
}

TEST_F(PaperGolden, MethodsText) {
  test::expect_golden("tests/golden/reports/methods.md", write_methods_markdown(methods()));
  test::expect_golden("tests/golden/reports/methods.tex", write_methods_latex(methods()));
  test::expect_golden("tests/golden/reports/methods.json", write_methods_json(methods()));
}

TEST_F(PaperGolden, Csv) {
  test::expect_golden("tests/golden/reports/paper.csv", write_csv(table()));
}

TEST_F(PaperGolden, Json) {
  test::expect_golden("tests/golden/reports/paper.json", write_json(table()));
}

}  // namespace
}  // namespace qfs::reports
