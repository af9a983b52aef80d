// Where the time of ROUGE goes, stage by stage, on FILE with `prediction` and `references` a line.
// Every iteration begins with empty caches.
// Usage: qfs_bench_rouge [--benchmark_…] FILE [nostem]
#include <benchmark/benchmark.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/rouge/rouge_metric.h"
#include "metrics/stats/bootstrap.h"
#include "metrics/text/scored_texts.h"

namespace {

using qfs::ScoreItem;
using qfs::metrics::EncodedText;
using qfs::metrics::RougeMetric;
using qfs::metrics::RougeOptions;
using qfs::metrics::RougeScorer;
using Items = std::vector<ScoreItem>;

Items read_items(const char* path) {
  Items items;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto record = nlohmann::json::parse(line);
    ScoreItem item;
    item.id = static_cast<int64_t>(items.size());
    item.candidate = record.at("prediction");
    item.references = record.at("references");
    items.push_back(std::move(item));
  }
  return items;
}

void count(benchmark::State& state, size_t items) {
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(items));
}

std::vector<EncodedText> encoded(RougeScorer& scorer, const Items& items) {
  std::vector<EncodedText> texts;
  for (const ScoreItem& item : items) {
    texts.push_back(scorer.encode(item.references.front()));
    texts.push_back(scorer.encode(item.candidate));
  }
  return texts;
}

void check_texts(benchmark::State& state, const Items& items) {
  for (auto _ : state) {
    for (const ScoreItem& item : items) {
      benchmark::DoNotOptimize(qfs::metrics::check_texts(item, "rouge").ok());
    }
  }
  count(state, items.size());
}

void encode(benchmark::State& state, const Items& items, const RougeOptions& options) {
  for (auto _ : state) {
    RougeScorer scorer(options);
    benchmark::DoNotOptimize(encoded(scorer, items));
  }
  count(state, items.size());
}

void score(benchmark::State& state, const Items& items, const RougeOptions& options) {
  RougeScorer scorer(options);
  const std::vector<EncodedText> texts = encoded(scorer, items);
  for (auto _ : state) {
    for (size_t i = 0; i < texts.size(); i += 2) {
      benchmark::DoNotOptimize(scorer.score(texts[i], texts[i + 1]));
    }
  }
  count(state, items.size());
}

void measure(benchmark::State& state, const Items& items, const RougeOptions& options) {
  for (auto _ : state) benchmark::DoNotOptimize(RougeMetric(options).measure(items));
  count(state, items.size());
}

void resample(benchmark::State& state, const Items& items, const RougeOptions& options) {
  std::vector<qfs::Statistics> rows = *RougeMetric(options).measure(items);
  rows.resize(std::min<size_t>(rows.size(), 1000));
  std::vector<std::string> clusters;
  for (size_t i = 0; i < rows.size(); ++i) clusters.push_back(std::to_string(i));
  for (auto _ : state) {
    benchmark::DoNotOptimize(qfs::metrics::bootstrap_means(rows, clusters, {.resamples = 1000}));
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const bool stem = argc < 3 || std::string_view(argv[2]) != "nostem";
  const RougeOptions options{.stem = stem, .split = {}};
  const Items items = argc < 2 ? Items() : read_items(argv[1]);
  if (items.empty()) return 2;
  benchmark::RegisterBenchmark("check texts", check_texts, items);
  benchmark::RegisterBenchmark("encode", encode, items, options);
  benchmark::RegisterBenchmark("score", score, items, options);
  benchmark::RegisterBenchmark("measure", measure, items, options);
  benchmark::RegisterBenchmark("1,000 resamples", resample, items, options);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
