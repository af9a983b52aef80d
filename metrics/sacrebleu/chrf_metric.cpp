#include "metrics/sacrebleu/chrf_metric.h"

#include "metrics/sacrebleu/bleu_metric.h"
#include "metrics/text/scored_texts.h"

namespace qfs::metrics {

std::string_view ChrfMetric::doc() const {
  return "chrF and chrF++ (0 to 100) with the digits and the signature of sacreBLEU 2.6";
}

std::vector<std::string> ChrfMetric::columns() const {
  std::vector<std::string> columns = {"chrf"};
  for (size_t order = 1; order <= options_.orders(); ++order) {
    for (const char* count : {"chrf#hyp", "chrf#ref", "chrf#match"}) {
      columns.push_back(count + std::to_string(order));
    }
  }
  return columns;
}

std::string ChrfMetric::options_text() const {
  return std::string("case:") + (options_.lower_case ? "lc" : "mixed") +
         "|eff:" + (options_.epsilon ? "no" : "yes") +
         "|nc:" + std::to_string(options_.character_order) +
         "|nw:" + std::to_string(options_.word_order) +
         "|space:" + (options_.white_space ? "yes" : "no");
}

std::string ChrfMetric::signature() const {
  return "chrf|compat:sacrebleu-" + std::string(kSacrebleuVersion) + "|" + options_text() +
         "|beta:" + std::to_string(options_.beta) + "|agg:corpus|v:1";
}

std::string ChrfMetric::tool_signature(size_t fewest, size_t most) const {
  return "chrF" + std::to_string(options_.beta) + std::string(options_.word_order, '+') + "|" +
         sacrebleu_references(fewest, most) + "|" + options_text() +
         "|version:" + std::string(kSacrebleuVersion);
}

Result<std::vector<Statistics>> ChrfMetric::measure(std::span<const ScoreItem> items) const {
  InternTable words;
  GramMatcher matcher;
  std::vector<Statistics> rows;
  rows.reserve(items.size());
  for (const ScoreItem& item : items) {
    if (Status status = check_texts(item, name_); !status) return status.error();
    std::vector<ChrfText> references;
    for (const std::string& text : item.references) {
      references.push_back(chrf_text(text, options_, words));
    }
    const std::vector<double> counts =
        chrf_counts(chrf_text(item.candidate, options_, words), references, options_, matcher);
    Statistics row = {chrf_score(counts, options_)};
    row.insert(row.end(), counts.begin(), counts.end());
    rows.push_back(std::move(row));
  }
  return rows;
}

void ChrfMetric::values_from_sums(std::span<double> sums, double items) const {
  sums[0] = chrf_score(sums.subspan(1), options_);
  for (double& count : sums.subspan(1)) count /= items;
}

}  // namespace qfs::metrics
