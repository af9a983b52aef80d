// Every output format of a table that has one cell of each kind, byte for byte.
#include <gtest/gtest.h>

#include "reports/figures/figure.h"
#include "reports/report.h"
#include "reports/writers/csv.h"
#include "reports/writers/json.h"
#include "reports/writers/markdown.h"
#include "reports/writers/svg.h"
#include "tests/support/golden.h"
#include "tests/unit/reports/sample_sweep.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::reports {
namespace {

using test::SamplePlace;
using test::SampleSweep;
using test::value_of;

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kMillisecond = 1'000'000;

std::string context(int64_t tokens) { return "{\"local_context\":" + std::to_string(tokens) + "}"; }

SamplePlace place(const std::string& method, int64_t tokens) {
  SamplePlace place;
  place.method = method;
  place.params = context(tokens);
  place.measured = true;
  return place;
}

std::vector<test::SampleScore> rouge(double one, double l) {
  return {{"rouge1.f", one, store::ScoreInterval{one - 0.024, one + 0.0238}},
          {"rougeL.f", l, store::ScoreInterval{l - 0.01, l + 0.01}}};
}

test::SampleTiming timing(int64_t decode_ms) {
  test::SampleTiming timing;
  timing.total_ns = {120 * kMillisecond, 100 * kMillisecond, 140 * kMillisecond};
  timing.host_bytes = {40 * kMiB, 42 * kMiB, 41 * kMiB};
  if (decode_ms > 0) {
    timing.decode_ns = {decode_ms * kMillisecond, decode_ms * 2 * kMillisecond,
                        decode_ms * 4 * kMillisecond};
    timing.decode_tokens = 60;
  }
  return timing;
}

/// lead: everything; bm25: no interval, empty outputs, not scored; oracle: incomplete; zero_shot:
/// OOM; external programs: dead and late; nothing else at 512.
class ReportGolden : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    sweep_ = new SampleSweep("local_context_demo");
    sweep_->add_dataset("demo-meetings", 12);
    const auto add = [](SamplePlace added) { sweep_->add(added); };

    SamplePlace lead = place("lead", 256);
    lead.scores = rouge(0.33521, 0.2);
    lead.timing = timing(0);
    add(lead);
    lead.params = context(128);
    lead.kept = 0.5;
    lead.scores = rouge(0.3, 0.195);
    add(lead);
    lead.params = context(512);
    add(lead);

    SamplePlace bm25 = place("bm25", 128);
    bm25.scores = {{"rouge1.f", 0.41, std::nullopt}, {"rougeL.f", 0.25, std::nullopt}};
    bm25.clusters = 7;
    bm25.empty = 3;
    bm25.timing = timing(0);
    bm25.kept = 0.25;
    add(bm25);
    bm25.params = context(256);
    bm25.scores.clear();
    bm25.timing.reset();
    bm25.empty = 0;
    bm25.measure_failure = store::FailureKind::timeout;
    add(bm25);

    SamplePlace oracle = place("oracle", 128);
    oracle.oracle = true;
    oracle.scores = rouge(0.6, 0.5);
    oracle.truncation = false;
    oracle.measured = false;
    add(oracle);
    oracle.params = context(256);
    oracle.scores.clear();
    oracle.predictions = 5;
    add(oracle);

    SamplePlace model = place("zero_shot", 128);
    model.scores = rouge(0.2, 0.15);
    model.timing = timing(2000);
    model.timing->device_bytes = {900 * kMiB, 900 * kMiB, 901 * kMiB};
    add(model);
    model = place("zero_shot", 256);
    model.predictions = 3;
    model.failure = store::FailureKind::oom_host;
    model.failure_text = "more than 8 GiB";
    add(model);

    SamplePlace external = place("external", 128);
    external.label = "mine | *bold*";
    external.predictions = 0;
    external.failure = store::FailureKind::signal;
    external.failure_text = "the host died of signal 9 (Killed)";
    add(external);
    external.params = context(256);
    external.failure = store::FailureKind::timeout;
    add(external);

    sweep_->finish(R"({"rows":["method"],"columns":["local_context"],"values":
                       ["rouge1.f","rougeL.f","peak_memory","tokens_per_second"]})");
    sweep_->contradict(0, 3);
  }

  static void TearDownTestSuite() {
    delete sweep_;
    sweep_ = nullptr;
  }

  static ReportRequest request() {
    ReportRequest request;
    request.program = "qfs-bench v0.1.0";
    request.store_name = "results.sqlite";
    return request;
  }

  static Table table(const ReportRequest& request) {
    store::Reader reader = sweep_->reader();
    return value_of(build_table(reader, request));
  }

  static SampleSweep* sweep_;
};

SampleSweep* ReportGolden::sweep_ = nullptr;

TEST_F(ReportGolden, MarkdownHasATableAValueWithEveryKindOfCell) {
  test::expect_golden("tests/golden/reports/table.md", write_markdown(table(request())));
}

TEST_F(ReportGolden, MarkdownWithoutColumnAxesHasTheValuesAsColumns) {
  ReportRequest flat = request();
  flat.columns = std::vector<std::string>{};
  flat.values = std::vector<std::string>{"rouge1.f", "seconds_per_example", "truncated"};
  test::expect_golden("tests/golden/reports/flat.md", write_markdown(table(flat)));
}

TEST_F(ReportGolden, MarkdownHasValuesBelowAnAxisOrAboveIt) {
  ReportRequest wide = request();
  wide.values = std::vector<std::string>{"rouge1.f", "peak_memory"};
  wide.columns = std::vector<std::string>{"local_context", "values"};
  test::expect_golden("tests/golden/reports/values_below.md", write_markdown(table(wide)));
  wide.columns = std::vector<std::string>{"values", "local_context"};
  test::expect_golden("tests/golden/reports/values_above.md", write_markdown(table(wide)));
}

TEST_F(ReportGolden, MarkdownCoverageIsAddedOnRequest) {
  ReportRequest coverage = request();
  coverage.values = std::vector<std::string>{"rouge1.f"};
  coverage.coverage = true;
  test::expect_golden("tests/golden/reports/coverage.md", write_markdown(table(coverage)));
}

TEST_F(ReportGolden, JsonCarriesStatusNumbersAndIds) {
  test::expect_golden("tests/golden/reports/table.json", write_json(table(request())));
}

TEST_F(ReportGolden, QualityJsonHasNoTimesAndNoMemory) {
  ReportRequest quality = request();
  quality.only_quality = true;
  const std::string text = write_json(table(quality));
  test::expect_golden("tests/golden/reports/quality.json", text);
  EXPECT_EQ(text.find("peak_memory"), std::string::npos);
  EXPECT_EQ(text.find("tokens_per_second"), std::string::npos);
  EXPECT_EQ(text.find("results.sqlite"), std::string::npos) << "a path is no quality";
}

TEST_F(ReportGolden, CsvHasARecordACellAndValue) {
  test::expect_golden("tests/golden/reports/table.csv", write_csv(table(request())));
}

TEST_F(ReportGolden, SvgDrawsCurvesWithBandsAndWhatHasNoNumber) {
  const Figure figure = value_of(curves_of(table(request())));
  test::expect_golden("tests/golden/reports/curves.svg", write_svg(figure));
}

}  // namespace
}  // namespace qfs::reports
