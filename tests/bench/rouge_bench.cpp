// Where the time of ROUGE goes: one JSON object a stage and round on stdout.
// Usage: qfs_bench_rouge FILE ROUNDS [nostem], FILE with `prediction` and `references` a line.
// Every round starts with empty caches.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/rouge/rouge_metric.h"
#include "metrics/stats/bootstrap.h"
#include "metrics/text/scored_texts.h"

namespace {

using Clock = std::chrono::steady_clock;

std::vector<qfs::ScoreItem> read_items(const char* path) {
  std::vector<qfs::ScoreItem> items;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto record = nlohmann::json::parse(line);
    qfs::ScoreItem item;
    item.id = static_cast<int64_t>(items.size());
    item.candidate = record.at("prediction");
    item.references = record.at("references");
    items.push_back(std::move(item));
  }
  return items;
}

/// `call` returns a number that depends on all its work.
template <class Call>
void stage(const char* name, size_t items, Call&& call) {
  const auto start = Clock::now();
  const double check = call();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::printf(
      "{\"stage\": \"%s\", \"us_per_item\": %.3f, \"items_per_s\": %.0f, \"check\": %.9f}\n", name,
      1e6 * seconds / static_cast<double>(items), static_cast<double>(items) / seconds, check);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::vector<qfs::ScoreItem> items = read_items(argv[1]);
  const bool stem = argc < 4 || std::string_view(argv[3]) != "nostem";
  for (int round = 0; round < std::atoi(argv[2]); ++round) {
    stage("check texts", items.size(), [&] {
      double ok = 0;
      for (const qfs::ScoreItem& item : items) ok += qfs::metrics::check_texts(item, "rouge").ok();
      return ok;
    });
    qfs::metrics::RougeScorer scorer(qfs::metrics::RougeOptions{.stem = stem, .split = {}});
    std::vector<qfs::metrics::EncodedText> texts;
    stage("encode", items.size(), [&] {
      double tokens = 0;
      for (const qfs::ScoreItem& item : items) {
        for (std::string_view text :
             {std::string_view(item.references[0]), std::string_view(item.candidate)}) {
          tokens += static_cast<double>(texts.emplace_back(scorer.encode(text)).tokens.size());
        }
      }
      return tokens;
    });
    stage("score", items.size(), [&] {
      double sum = 0;
      for (size_t i = 0; i < texts.size(); i += 2) {
        const qfs::metrics::RougeScores scores = scorer.score(texts[i], texts[i + 1]);
        sum += scores.rouge1.f + scores.rouge2.f + scores.rougeL.f + scores.rougeLsum.f;
      }
      return sum;
    });
    const qfs::metrics::RougeMetric metric(qfs::metrics::RougeOptions{.stem = stem, .split = {}});
    stage("measure", items.size(), [&] {
      double sum = 0;
      const auto rows = metric.measure(items);
      for (const qfs::Statistics& row : *rows) sum += row[2] + row[5] + row[8] + row[11];
      return sum;
    });
    std::vector<qfs::Statistics> rows = *metric.measure(items);
    rows.resize(std::min<size_t>(rows.size(), 1000));
    std::vector<std::string> clusters;
    for (size_t i = 0; i < rows.size(); ++i) clusters.push_back(std::to_string(i));
    stage("1,000 resamples", rows.size(), [&] {
      const auto intervals = qfs::metrics::bootstrap_means(rows, clusters, {.resamples = 1000});
      return intervals->front().low;
    });
  }
  return 0;
}
