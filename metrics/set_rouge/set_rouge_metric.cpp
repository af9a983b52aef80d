#include "metrics/set_rouge/set_rouge_metric.h"

#include "metrics/rouge/best_scores.h"
#include "metrics/text/scored_texts.h"
#include "metrics/text/script_check.h"

namespace qfs::metrics {
namespace {

std::string_view package_name(SetRougePackage package) {
  return package == SetRougePackage::pltrdy_1_0_1 ? "rouge 1.0.1" : "rouge-chinese 1.0.3";
}

/// " ".join(words), as callers of both packages hand Chinese over.
Result<std::string> joined(const Segmenter& segmenter, std::string_view text) {
  std::vector<std::string_view> words;
  if (Status status = segmenter.segment(text, words); !status) return status.error();
  std::string result;
  for (std::string_view word : words) {
    if (!result.empty()) result += ' ';
    result += word;
  }
  return result;
}

Result<WordSentences> encode(SetRouge& scorer, std::string_view text, std::string_view role,
                             const SetRougeOptions& options) {
  std::string segmented;
  if (options.segmenter != nullptr) {
    Result<std::string> words = joined(*options.segmenter, text);
    if (!words) return words.error();
    segmented = *std::move(words);
    text = segmented;
  }
  WordSentences encoded = scorer.encode(text);
  if (encoded.empty() && options.empty == EmptyText::error) {
    return empty_text_error(role, package_name(options.package));
  }
  return encoded;
}

}  // namespace

Result<SetRougeScores> best_set_rouge(SetRouge& scorer, const ScoreItem& item,
                                      const SetRougeOptions& options) {
  const Result<WordSentences> candidate = encode(scorer, item.candidate, "candidate", options);
  if (!candidate) return candidate.error();
  SetRougeScores best;
  for (const std::string& text : item.references) {
    const Result<WordSentences> reference = encode(scorer, text, "reference", options);
    if (!reference) return reference.error();
    if (candidate->empty() || reference->empty()) continue;
    Status status = check_lcs_size({candidate->words(), candidate->sentences.size()},
                                   {reference->words(), reference->sentences.size()});
    if (!status) return status.error();
    const SetRougeScores scores = scorer.score(*candidate, *reference);
    keep_better(best.rouge1, scores.rouge1);
    keep_better(best.rouge2, scores.rouge2);
    keep_better(best.rougeL, scores.rougeL);
  }
  return best;
}

std::string_view SetRougeMetric::doc() const {
  return options_.package == SetRougePackage::pltrdy_1_0_1
             ? "ROUGE-1, -2, -L of the Python package rouge 1.0.1 (pltrdy): sets of n-grams"
             : "ROUGE-1, -2, -L of rouge-chinese 1.0.3 on segmented text: sets of n-grams";
}

std::vector<std::string> SetRougeMetric::columns() const {
  std::vector<std::string> columns;
  for (std::string variant : {"rouge1", "rouge2", "rougeL"}) {
    for (std::string_view value : {".p", ".r", ".f"})
      columns.push_back(variant + std::string(value));
  }
  return columns;
}

std::string SetRougeMetric::signature() const {
  const bool pltrdy = options_.package == SetRougePackage::pltrdy_1_0_1;
  return std::string(pltrdy ? "pltrdy-rouge|compat:pltrdy-rouge-1.0.1"
                            : "rouge-chinese|compat:rouge-chinese-1.0.3") +
         "|" + (options_.segmenter == nullptr ? "seg:pretok" : options_.segmenter->signature()) +
         "|case:keep|stem:none|punct:keep|sent:" + (pltrdy ? "period" : "cut_sent") +
         "|count:sets|L:" + (pltrdy ? "union" : "whole") +
         "|eps:1e-8|empty:" + std::string(to_string(options_.empty)) +
         "|multi:max-f-per-metric|agg:mean|v:1";
}

std::string_view SetRougeMetric::note(const ScoreItem& item) const {
  if (options_.segmenter != nullptr || !any_text(item, looks_unsegmented)) return {};
  return "the text has no spaces between Chinese words, and this package splits at nothing else; "
         "rouge-chinese:segmenter=jieba segments as its users do";
}

Result<std::vector<Statistics>> SetRougeMetric::measure(std::span<const ScoreItem> items) const {
  SetRouge scorer(options_.package);
  std::vector<Statistics> rows;
  rows.reserve(items.size());
  for (const ScoreItem& item : items) {
    if (Status status = check_texts(item, name_); !status) return status.error();
    const Result<SetRougeScores> scores = best_set_rouge(scorer, item, options_);
    if (!scores) {
      Error error = scores.error();
      error.where = error.where.empty() ? item_name(item) : error.where;
      return error;
    }
    Statistics row;
    for (const Prf& prf : {scores->rouge1, scores->rouge2, scores->rougeL}) {
      row.insert(row.end(), {prf.precision, prf.recall, prf.f});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace qfs::metrics
