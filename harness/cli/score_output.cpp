#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/api/metric_columns.h"
#include "harness/cli/output.h"
#include "harness/cli/score_files.h"
#include "harness/core/log.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

/// "rouge1.f" is the statistic "f" of "rouge1"; a column without such an ending stands alone.
struct ColumnName {
  std::string metric;
  std::string statistic;  ///< "p", "r", "f", or empty
};

ColumnName split_column(const std::string& column) {
  for (const char* ending : {".p", ".r", ".f"}) {
    if (column.ends_with(ending)) return {column.substr(0, column.size() - 2), ending + 1};
  }
  return {column, ""};
}

json interval_json(const std::optional<store::ScoreInterval>& interval) {
  if (!interval) return nullptr;
  return json::array({interval->low, interval->high});
}

json values_json(const score::FileScore& score) {
  json values = json::object();
  for (size_t i = 0; i < score.score.columns.size(); ++i) {
    if (is_statistic(score.score.columns[i])) continue;
    const ColumnName name = split_column(score.score.columns[i]);
    const std::string statistic = name.statistic.empty() ? "value" : name.statistic;
    json& metric = values[name.metric];
    metric[statistic] = score.score.values[i].value;
    metric["intervals"][statistic] = interval_json(score.intervals.columns[i]);
  }
  return values;
}

/// Shares are shown times 100, as tables do; a column that is no F measure keeps its scale.
std::string shown(const std::string& statistic, double value) {
  return statistic.empty() ? fmt::format("{:.4f}", value) : fmt::format("{:.2f}", 100 * value);
}

std::string interval_text(const score::FileScore& score, size_t column,
                          const std::string& statistic) {
  const std::optional<store::ScoreInterval>& interval = score.intervals.columns[column];
  if (!interval) return score.intervals.absent();
  return fmt::format("[{}, {}]", shown(statistic, interval->low), shown(statistic, interval->high));
}

/// One row a metric with P, R, F and, if there are any, the interval of F; other columns have a row
/// of their own, and a table without P and R has one number a row.
std::string table_of(const score::FileScore& score, bool intervals) {
  std::vector<std::vector<std::string>> rows = {{"", "P", "R", "F", "95 % interval of F"}};
  bool whole = false;
  for (size_t i = 0; i < score.score.columns.size(); ++i) {
    if (is_statistic(score.score.columns[i])) continue;
    const ColumnName name = split_column(score.score.columns[i]);
    const std::string value = shown(name.statistic, score.score.values[i].value);
    if (rows.back().front() != name.metric) rows.push_back({name.metric, "", "", "", ""});
    std::vector<std::string>& row = rows.back();
    whole = whole || name.statistic == "p" || name.statistic == "r";
    if (name.statistic == "p") row[1] = value;
    if (name.statistic == "r") row[2] = value;
    if (name.statistic == "f" || name.statistic.empty()) {
      row[3] = value;
      row[4] = interval_text(score, i, name.statistic);
    }
  }
  if (!whole) rows.front() = {"", "", "", "value", "95 % interval"};
  for (std::vector<std::string>& row : rows) {
    if (!intervals) row.pop_back();
    if (!whole) row.erase(row.begin() + 1, row.begin() + 3);
  }
  return aligned(rows);
}

std::string counts_text(const score::FileScores& scores) {
  const score::ScoredItems& items = scores.items;
  std::string text = fmt::format("n = {}", items.ids.size());
  if (items.missing > 0) {
    text += fmt::format(", {} without prediction ({})", items.missing, to_string(scores.missing));
  }
  if (items.empty_predictions > 0) {
    text += fmt::format(", {} empty predictions", items.empty_predictions);
  }
  if (items.empty_references > 0) {
    text += fmt::format(", {} empty references", items.empty_references);
  }
  text += "; " + items.source;
  if (!items.dataset.empty()) text += " with references of " + items.dataset;
  return text + (scores.interval_method == score::kNoIntervals
                     ? "\n"
                     : "; intervals by " + items.unit + "\n");
}

}  // namespace

std::string scores_text(const score::FileScores& scores, bool long_signatures) {
  std::string text;
  for (const score::FileScore& score : scores.scores) {
    if (scores.scores.size() > 1) text += score.name + "\n";
    text += table_of(score, scores.interval_method != score::kNoIntervals);
    text += fmt::format("signature: {}\n",
                        long_signatures ? score.long_signature : score.short_signature);
    if (!score.tool_signature.empty()) {
      text += fmt::format("as {}: {}\n", score.score.metric->tool(), score.tool_signature);
    }
    text += '\n';
  }
  return terminal_safe(text + counts_text(scores));
}

std::string scores_json(const score::FileScores& scores) {
  const score::ScoredItems& items = scores.items;
  json profiles = json::array();
  for (const score::FileScore& score : scores.scores) {
    profiles.push_back(
        {{"name", score.name},
         {"n", items.ids.size()},
         {"scores", values_json(score)},
         {"clusters", score.intervals.clusters},
         {"signature", {{"long", score.long_signature}, {"short", score.short_signature}}}});
    if (!score.tool_signature.empty()) {
      profiles.back()["signature"]["tool"] = score.tool_signature;
    }
  }
  json body = {{"n", items.ids.size()},
               {"scores", profiles[0]["scores"]},
               {"signature", profiles[0]["signature"]},
               {"source", items.source},
               {"unit", items.unit},
               {"interval_method", scores.interval_method},
               {"references",
                {{"fewest", items.fewest_references},
                 {"most", items.most_references},
                 {"empty", items.empty_references},
                 {"read_from_python_lists", items.python_lists}}},
               {"missing", {{"policy", to_string(scores.missing)}, {"count", items.missing}}},
               {"empty_predictions", items.empty_predictions},
               {"empty_texts", std::ranges::count(items.empty_texts, true)},
               {"dropped_repeats", items.dropped_repeats},
               {"profiles", std::move(profiles)}};
  if (!items.dataset.empty()) body["dataset"] = items.dataset;
  if (items.postprocess.text != "[]") {
    body["postprocess"] = {{"chain", json::parse(items.postprocess.text)},
                           {"changed_predictions", items.processed}};
  }
  return json_document("score", body);
}

Status write_per_example(const score::FileScores& scores, const std::string& path) {
  std::string text;
  for (size_t i = 0; i < scores.items.ids.size(); ++i) {
    json line = {{"id", scores.items.ids[i]}};
    if (scores.items.unit != "item") line[scores.items.unit] = scores.items.clusters[i];
    for (const score::FileScore& score : scores.scores) {
      json& values = line["scores"][score.name];
      for (size_t c = 0; c < score.score.columns.size(); ++c) {
        values[score.score.columns[c]] = score.score.statistics[i][c];
      }
    }
    text += terminal_safe_json(line.dump()) + "\n";
  }
  return write_result(text, path);
}

}  // namespace qfs::cli
