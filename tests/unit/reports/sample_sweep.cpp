#include "tests/unit/reports/sample_sweep.h"

#include <nlohmann/json.hpp>

#include "harness/core/identity.h"
#include "harness/core/sha256.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::test {
namespace {

constexpr int64_t kSegments = 4;
constexpr int64_t kSegmentBytes = 25;

Example example_of(const std::string& dataset, int64_t i) {
  Example example;
  const std::string number = std::to_string(i);
  example.key = dataset + "-" + number;
  example.document_id = "document-" + number;
  example.group = example.key;
  example.language = "en";
  for (int64_t segment = 0; segment < kSegments; ++segment) {
    std::string text = "turn " + std::to_string(segment) + " of " + number + " ";
    text.resize(kSegmentBytes, '.');
    example.document.push_back({text, ""});
  }
  example.query = "What was said in turn 1 of " + number + "?";
  example.references = {"turn 1 of " + number};
  example.evidence = {{1, 1}};
  return example;
}

/// Keeps the first `share` of the document, whole segments; a token is a byte.
Truncation keep(double share) {
  Truncation truncation;
  const auto segments = static_cast<int64_t>(share * kSegments);
  truncation.document_tokens = kSegments * kSegmentBytes;
  truncation.kept_tokens = segments * kSegmentBytes;
  truncation.query_tokens = 7;
  for (int64_t i = 0; i < segments; ++i) truncation.kept.push_back({i, 0, kSegmentBytes});
  return truncation;
}

store::OutputRow output_of(const SamplePlace& place, int64_t ordinal) {
  store::OutputRow output;
  output.ordinal = ordinal;
  output.prediction.text = place.method + " says turn 1 of " + std::to_string(ordinal);
  if (!place.extra.empty()) output.prediction.extra = Json{place.extra};
  if (ordinal < place.empty) output.prediction.text = " \n";
  output.prediction.tokens_out = 6;
  output.prediction.prompt = "Summarize turn 1 of " + std::to_string(ordinal);
  if (place.truncation) output.prediction.truncation = keep(place.kept);
  return output;
}

}  // namespace

SampleSweep::SampleSweep(std::string name)
    : store_(value_of(store::Store::open(folder_ / "results.sqlite"))) {
  sweep_.name = std::move(name);
}

size_t SampleSweep::add_dataset(const std::string& name, int64_t examples,
                                const std::string& view) {
  Dataset& dataset = datasets_.emplace_back();
  dataset.manifest.name = name;
  dataset.manifest.reader = "sample@1";
  dataset.manifest.split = "test";
  dataset.manifest.view = view;
  dataset.manifest.files = {{"test.jsonl", sha256_hex(name), 17}};
  for (int64_t i = 0; i < examples; ++i) {
    dataset.examples.push_back(example_of(name, i));
    dataset.example_hashes.push_back(sha256_hex(name + view + std::to_string(i)));
  }
  dataset.id = make_dataset_id(
      Json{nlohmann::json({{"name", name}, {"view", view}, {"examples", examples}}).dump()});
  check(store_.put_dataset(dataset));
  return datasets_.size() - 1;
}

void SampleSweep::add(const SamplePlace& place) {
  const Dataset& dataset = datasets_[place.dataset];
  store::CellRow cell;
  cell.identity = Json{nlohmann::json({{"method", place.method},
                                       {"params", nlohmann::json::parse(place.params)},
                                       {"seed", place.seed},
                                       {"dataset", dataset.id.hex()}})
                           .dump()};
  cell.id = make_cell_id(cell.identity);
  cell.method = place.method;
  cell.oracle = place.oracle;
  cell.params = Json{place.params};
  cell.dataset = dataset.id;
  cell.seed = place.seed;
  for (size_t i = 0; i < dataset.examples.size(); ++i) {
    cell.ordinals.push_back(static_cast<int64_t>(i));
  }
  check(store_.put_cell(cell));
  store::SweepCell& position = sweep_.cells.emplace_back();
  position.cell = cell.id;
  position.label = place.label.empty() ? place.method : place.label;
  position.params = Json{place.params};
  if (place.measured) position.measure_ordinals = {0, 1};

  const auto index = static_cast<int64_t>(sweep_.cells.size()) - 1;
  predictions_.push_back(predict(place, cell));
  used_.push_back({index, predictions_.back()});
  if (!place.scores.empty()) score(place, cell, predictions_.back());
  if (place.timing || place.measure_failure != store::FailureKind::none) {
    used_.push_back({index, measure(place, cell)});
  }
}

void SampleSweep::finish(const std::string& report) {
  nlohmann::json config = {{"name", sweep_.name}, {"description", "a sweep made for tests"}};
  if (!report.empty()) config["report"] = nlohmann::json::parse(report);
  config["metrics"] = {"rouge"};
  sweep_.config = Json{config.dump()};
  id_ = value_of(store_.put_sweep(sweep_));
  for (const Used& used : used_) check(store_.use_result(id_, used.position, used.result));
}

void SampleSweep::contradict(size_t place, int64_t ordinal) {
  store::EnvironmentRow environment = sample_environment();
  const store::AttemptId attempt =
      value_of(store_.begin_attempt({.result = predictions_[place],
                                     .environment = value_of(store_.put_environment(environment)),
                                     .worker = "driver"}));
  store::OutputRow output;
  output.ordinal = ordinal;
  output.prediction.text = "something else";
  const auto outcome = value_of(store_.commit_outputs(predictions_[place], attempt, {&output, 1}));
  if (outcome.conflicting_ordinals.empty()) throw std::runtime_error("no conflict");
  check(store_.end_attempt(attempt, {}));
}

store::Reader SampleSweep::reader() const { return value_of(store::Reader::open(store_.path())); }

store::ResultId SampleSweep::predict(const SamplePlace& place, const store::CellRow& cell) {
  const OpenResult open = open_result(store_, cell);
  const int64_t all = static_cast<int64_t>(cell.ordinals.size());
  const int64_t count = place.predictions < 0 ? all : place.predictions;
  std::vector<store::OutputRow> outputs;
  for (int64_t i = 0; i < count; ++i) outputs.push_back(output_of(place, i));
  if (!outputs.empty()) value_of(store_.commit_outputs(open.result, open.attempt, outputs));
  if (place.failure == store::FailureKind::none && count < all) {
    check(store_.end_attempt(open.attempt, {store::AttemptState::cancelled, {}, "interrupted"}));
  } else {
    end(open.attempt, place.failure, place.failure_text);
  }
  return open.result;
}

store::ResultId SampleSweep::measure(const SamplePlace& place, const store::CellRow& cell) {
  const SampleTiming timing = place.timing.value_or(SampleTiming{});
  const auto repetitions = static_cast<int64_t>(timing.total_ns.size());
  const OpenResult open = open_result(store_, cell, store::ResultKind::measure,
                                      {.repetitions = std::max<int64_t>(repetitions, 3)});
  for (int64_t i = 0; i < repetitions; ++i) {
    const auto at = static_cast<size_t>(i);
    std::vector<store::MeasurementRow> rows = {{i, 0, "total", timing.total_ns[at], 0}};
    if (!timing.decode_ns.empty()) {
      rows.push_back({i, 0, "decode", timing.decode_ns[at], timing.decode_tokens});
    }
    std::vector<store::MemoryRow> memory = {{i, "host_peak", timing.host_bytes[at]}};
    if (!timing.device_bytes.empty()) {
      memory.push_back({i, "device_allocated_peak", timing.device_bytes[at]});
    }
    check(store_.commit_repetition(open.result, open.attempt, i, rows, memory));
  }
  end(open.attempt, place.measure_failure, "measuring failed");
  return open.result;
}

void SampleSweep::score(const SamplePlace& place, const store::CellRow& cell,
                        store::ResultId result) {
  store::ScoreJob job;
  job.id = make_score_id(
      Json{R"({"cell":")" + cell.id.hex() + R"(","signature":")" + place.signature + "\"}"});
  job.result = result;
  job.metric = "rouge";
  job.signature = place.signature;
  job.clusters = place.clusters;
  job.interval_method =
      "bootstrap|method:percentile|unit:cluster|n:10000|seed:12345|level:0.95|v:1";
  for (const SampleScore& score : place.scores) {
    job.columns.push_back(score.column);
    job.scores.push_back({score.column, score.value, score.interval});
  }
  const size_t count =
      place.predictions < 0 ? cell.ordinals.size() : static_cast<size_t>(place.predictions);
  for (size_t i = 0; i < count; ++i) {
    store::StatisticRow& row = job.statistics.emplace_back();
    row.ordinal = cell.ordinals[i];
    for (const SampleScore& score : place.scores) {
      row.values.push_back(score.value + (i % 2 == 0 ? score.wobble : -score.wobble));
    }
  }
  check(store_.put_scores(job));
}

void SampleSweep::end(store::AttemptId attempt, store::FailureKind failure,
                      const std::string& text) {
  store::AttemptEnd end;
  if (failure != store::FailureKind::none) {
    end = {store::AttemptState::failed, failure, text};
  }
  check(store_.end_attempt(attempt, end));
}

}  // namespace qfs::test
