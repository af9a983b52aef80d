#include "metrics/rouge/ideal_metric.h"

#include <unordered_map>
#include <utility>

#include "metrics/rouge/multi_reference.h"
#include "metrics/rouge/rouge_scorer.h"
#include "metrics/text/scored_texts.h"

namespace qfs::metrics {
namespace {

constexpr size_t kRougeColumns = kRougeVariants * 3;
constexpr MultiPolicy kBestRougeL = {MultiKind::best_pair, 8};

std::string without_special_texts(std::string_view text) {
  std::string result(text);
  for (std::string_view special : {"<pad>", "<s>", "</s>"}) {
    std::string kept;
    size_t begin = 0;
    while (true) {
      const size_t found = result.find(special, begin);
      kept.append(result, begin, found == std::string::npos ? found : found - begin);
      if (found == std::string::npos) break;
      begin = found + special.size();
    }
    result = std::move(kept);
  }
  return result;
}

}  // namespace

IdealMetric::IdealMetric(SentenceSplit split, bool strip)
    : split_(std::move(split)), strip_(strip), name_("ideal") {
  if (!strip_) name_ += ":strip=off";
  const std::string options = split_.options(kIdealSplit, kIdealNltk);
  if (!options.empty()) name_ += (strip_ ? ":" : ",") + options;
}

std::string_view IdealMetric::doc() const {
  return "IDEAL's evaluation: per group the (prediction, reference) pair with the best ROUGE-L, "
         "special strings deleted";
}

std::vector<std::string> IdealMetric::columns() const {
  std::vector<std::string> columns;
  for (size_t i = 0; i < kRougeColumns; ++i) columns.push_back(rouge_column(i));
  columns.emplace_back("chosen");
  return columns;
}

std::string IdealMetric::signature() const {
  return std::string(
             "ideal|compat:rouge_score-0.1.2|tok:ascii|lc:unicode|stem:porter-nltk|split:") +
         split_.signature() +
         "|multi:best-pair(rougeL.f)-per-group|strip:" + (strip_ ? "<pad>,<s>,</s>" : "none") +
         "|agg:mean-of-groups|v:1";
}

Result<std::vector<Statistics>> IdealMetric::measure(std::span<const ScoreItem> items) const {
  RougeScorer scorer({.split = split_});
  std::vector<Statistics> rows(items.size(), Statistics(kRougeColumns + 1, 0.0));
  struct Best {
    size_t row;
    RougeScores scores;
  };
  std::unordered_map<std::string, Best> groups;
  for (size_t i = 0; i < items.size(); ++i) {
    const ScoreItem& item = items[i];
    if (Status status = check_texts(item, "ideal"); !status.ok()) return status.error();
    const Result<RougeScorer::Each> each = scorer.score_each(
        item.references, strip_ ? without_special_texts(item.candidate) : item.candidate);
    if (!each.ok()) {
      Error error = each.error();
      error.where = item_name(item);
      return error;
    }
    const RougeScores own = combine_references(each->scores, each->lengths, kBestRougeL);
    // A group's name never starts with a NUL, so an item without a group is alone.
    const std::string group =
        item.group.empty() ? std::string(1, '\0') + std::to_string(i) : item.group;
    const auto [best, fresh] = groups.try_emplace(group, Best{i, own});
    if (!fresh && own.rougeL.f > best->second.scores.rougeL.f) best->second = {i, own};
  }
  for (const auto& [group, best] : groups) {
    Statistics& row = rows[best.row];
    for (size_t c = 0; c < kRougeColumns; ++c) row[c] = column_value(best.scores, c);
    row[kRougeColumns] = 1;
  }
  return rows;
}

void IdealMetric::values_from_means(std::span<double> means) const {
  const double chosen = means[kRougeColumns];
  // A resample of groups has at least one chosen row; one of single rows may have none.
  if (!(chosen > 0)) return;
  for (size_t c = 0; c < kRougeColumns; ++c) means[c] /= chosen;
}

}  // namespace qfs::metrics
