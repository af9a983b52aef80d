#include "harness/score/match.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <set>

namespace qfs::score {
namespace {

/// What a metric gives for one corpus, or why it gives nothing.
using Tried = Result<std::vector<Score>>;

/// Every other way of computing ROUGE, with the options that published numbers differ in.
std::vector<std::string> other_rouges(bool several_references, bool groups) {
  std::vector<std::string> names;
  const std::vector<std::string> formulas =
      several_references ? std::vector<std::string>{"", ",formula=B", ",jackknife=on"}
                         : std::vector<std::string>{""};
  for (const char* words : {"stem=on", "stem=on,exceptions=none", "stem=off"}) {
    for (const char* sentences : {"lines", "see", "see-escaped", "files2rouge", "dyle"}) {
      for (const std::string& formula : formulas) {
        for (const char* average : {"bootstrap", "mean"}) {
          names.push_back(std::string("rouge-1.5.5:") + words + ",sentences=" + sentences +
                          formula + ",average=" + average);
        }
      }
    }
  }
  if (groups) {
    for (const char* split : {"split=newline", "split=punkt", "split=punkt,nltk=3.10"}) {
      for (const char* strip : {"on", "off"}) {
        names.push_back(std::string("ideal:strip=") + strip + "," + split);
      }
    }
  }
  names.insert(names.end(), {"pltrdy-rouge", "pltrdy-rouge:empty=zero", "rouge-chinese",
                             "rouge-chinese:segmenter=jieba", "rouge-chinese:segmenter=char",
                             "longbench", "longbench:language=zh"});
  for (const char* segmenter : {"icu", "char", "jieba", "pretok"}) {
    for (const char* punctuation : {"drop", "keep"}) {
      names.push_back(std::string("rouge-zh:segmenter=") + segmenter +
                      ",punctuation=" + punctuation);
    }
  }
  return names;
}

std::vector<std::string> bleus() {
  std::vector<std::string> names;
  for (const char* tokenizer : {"13a", "none", "intl", "char", "zh"}) {
    for (const char* smooth : {"exp", "none", "add-k", "floor"}) {
      for (const char* more :
           {"", ",lowercase=on", ",effective_order=on", ",lowercase=on,effective_order=on"}) {
        names.push_back(std::string("bleu:tokenize=") + tokenizer + ",smooth=" + smooth + more);
      }
    }
  }
  return names;
}

std::vector<std::string> chrfs() {
  std::vector<std::string> names;
  for (const char* words : {"0", "2", "1"}) {
    for (const char* beta : {"2", "1", "3"}) {
      for (const char* more : {"", ",lowercase=on", ",whitespace=on", ",eps_smoothing=on",
                               ",lowercase=on,whitespace=on", ",whitespace=on,eps_smoothing=on"}) {
        names.push_back(std::string("chrf:word_order=") + words + ",beta=" + beta + more);
      }
    }
  }
  return names;
}

/// All that compute the family's columns, but for `rouge` itself.
std::vector<std::string> metrics_of(MatchFamily family, bool several_references, bool groups) {
  switch (family) {
    case MatchFamily::rouge:
      return other_rouges(several_references, groups);
    case MatchFamily::bleu:
      return bleus();
    case MatchFamily::chrf:
      return chrfs();
    case MatchFamily::bertscore:
      break;
  }
  return {"bertscore", "bertscore:idf=on", "bertscore:batch=64", "bertscore:idf=on,batch=64"};
}

Tried try_metric(const std::string& name, std::span<const ScoreItem> items,
                 const MetricCatalog& catalog) {
  const Result<std::shared_ptr<const Metric>> metric = catalog.make(name);
  if (!metric) return metric.error();
  const Result<std::vector<Statistics>> rows = (*metric)->measure(items);
  if (!rows) return rows.error();
  return (*metric)->aggregate(*rows);
}

std::optional<double> value_of(const std::vector<Score>& scores, const std::string& column) {
  const auto found = std::ranges::find(scores, column, &Score::name);
  if (found == scores.end()) return std::nullopt;
  return found->value;
}

/// How a table may have meant its columns.
struct Reading {
  const char* words;
  char statistic;  ///< of the targets that name none
  bool summary;    ///< "ROUGE-L" is rougeLsum
};
constexpr Reading kReadings[] = {
    {"", 'f', false},          {"rougeL is its rougeLsum", 'f', true},
    {"recall", 'r', false},    {"recall; rougeL is its rougeLsum", 'r', true},
    {"precision", 'p', false}, {"precision; rougeL is its rougeLsum", 'p', true}};

void add_tries(const std::string& metric, const std::vector<Score>& scores, MatchReport& report) {
  for (const Reading& reading : kReadings) {
    MatchTry way{metric, reading.words, {}};
    bool other_statistic = reading.statistic == 'f';
    bool other_level = !reading.summary;
    for (const MatchTarget& target : report.targets) {
      std::string column = target.column;
      if (target.any_statistic) column.back() = reading.statistic;
      other_statistic |= target.any_statistic;
      if (reading.summary && column.starts_with("rougeL.")) {
        column.insert(6, "sum");
        other_level = true;
      }
      if (const auto value = value_of(scores, column)) way.values.push_back(*value);
    }
    const bool complete = way.values.size() == report.targets.size();
    if (complete && other_statistic && other_level) report.tries.push_back(std::move(way));
  }
}

std::vector<Tried> try_all(const std::vector<std::string>& names, std::span<const ScoreItem> items,
                           const MetricCatalog& catalog, unsigned threads) {
  std::vector<Tried> results;
  const size_t at_once = std::max(1U, threads);
  for (size_t begin = 0; begin < names.size(); begin += at_once) {
    std::vector<std::future<Tried>> running;
    for (size_t i = begin; i < std::min(begin + at_once, names.size()); ++i) {
      running.push_back(
          std::async(std::launch::async, [&, i] { return try_metric(names[i], items, catalog); }));
    }
    for (auto& future : running) results.push_back(future.get());
  }
  return results;
}

}  // namespace

Result<MatchReport> match_published(std::span<const ScoreItem> items,
                                    std::vector<MatchTarget> targets, const MetricCatalog& catalog,
                                    MatchTries known, unsigned threads) {
  MatchReport report;
  report.targets = std::move(targets);
  report.items = items.size();
  std::set<std::string> groups;
  for (const ScoreItem& item : items) {
    report.most_references = std::max(report.most_references, item.references.size());
    groups.insert(item.group);
  }
  report.not_tried = std::move(known.not_tried);
  for (const auto& [name, values] : known.tried) add_tries(name, values, report);
  const MatchFamily family = report.targets.front().family;
  const std::vector<std::string> names =
      metrics_of(family, report.most_references > 1, groups.size() < items.size());
  // An encoder has threads of its own and is in memory once.
  const unsigned at_once = family == MatchFamily::bertscore ? 1 : threads;
  const std::vector<Tried> results = try_all(names, items, catalog, at_once);
  for (size_t i = 0; i < names.size(); ++i) {
    if (results[i].ok()) {
      add_tries(names[i], *results[i], report);
    } else {
      // The catalogue names the metric once more; without that, equal reasons are shown once.
      std::string reason = results[i].error().to_string();
      const std::string prefix = "metric '" + names[i] + "': ";
      if (reason.starts_with(prefix)) reason.erase(0, prefix.size());
      report.not_tried.emplace_back(names[i], std::move(reason));
    }
  }
  return report;
}

std::vector<size_t> MatchReport::matching() const {
  std::vector<size_t> found;
  for (size_t i = 0; i < tries.size(); ++i) {
    bool all = true;
    for (size_t t = 0; t < targets.size(); ++t) all &= targets[t].matches(tries[i].values[t]);
    if (all) found.push_back(i);
  }
  return found;
}

size_t MatchReport::distinct() const {
  std::set<std::vector<int64_t>> printed;
  for (const MatchTry& way : tries) {
    std::vector<int64_t> digits;
    for (size_t t = 0; t < targets.size(); ++t) {
      digits.push_back(
          std::llround(way.values[t] * targets[t].scale * std::pow(10.0, targets[t].decimals)));
    }
    printed.insert(std::move(digits));
  }
  return printed.size();
}

std::pair<double, double> MatchReport::expected_by_chance() const {
  double product = 1;
  double smallest = 1;
  for (size_t t = 0; t < targets.size(); ++t) {
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    for (const MatchTry& way : tries) {
      low = std::min(low, way.values[t] * targets[t].scale);
      high = std::max(high, way.values[t] * targets[t].scale);
    }
    const double unit = std::pow(10.0, -targets[t].decimals);
    const double chance = tries.empty() ? 0 : unit / (high - low + unit);
    product *= chance;
    smallest = std::min(smallest, chance);
  }
  const auto count = static_cast<double>(distinct());
  return {count * product, count * smallest};
}

std::vector<size_t> MatchReport::nearest(size_t count) const {
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < tries.size(); ++i) {
    double largest = 0;
    for (size_t t = 0; t < targets.size(); ++t) {
      largest =
          std::max(largest, std::abs(tries[i].values[t] * targets[t].scale - targets[t].value));
    }
    order.emplace_back(largest, i);
  }
  std::ranges::sort(order);
  std::vector<size_t> found;
  for (size_t i = 0; i < std::min(count, order.size()); ++i) found.push_back(order[i].second);
  return found;
}

}  // namespace qfs::score
