#include "metrics/chinese/rouge_zh_metric.h"

#include "harness/core/text/unicode.h"
#include "metrics/chinese/plain_segmenters.h"
#include "metrics/rouge/best_scores.h"
#include "metrics/rouge/prepared_reference.h"
#include "metrics/rouge/rouge_metric.h"
#include "metrics/text/scored_texts.h"
#include "metrics/text/script_check.h"

namespace qfs::metrics {
namespace {

Result<RougeScores> score(ZhTextEncoder& encoder, PreparedReference& prepared,
                          const ScoreItem& item) {
  const Result<EncodedText> candidate = encoder.encode(item.candidate);
  if (!candidate) return candidate.error();
  RougeScores best;
  for (const std::string& text : item.references) {
    const Result<EncodedText> reference = encoder.encode(text);
    if (!reference) return reference.error();
    Status status = check_lcs_size({candidate->tokens.size(), candidate->lines()},
                                   {reference->tokens.size(), reference->lines()});
    if (!status) return status.error();
    prepared.assign(*reference);
    keep_better(best, prepared.score(*candidate));
  }
  return best;
}

}  // namespace

std::string_view RougeZhMetric::doc() const {
  return "ROUGE-1, -2, -L and summary-level -L over the words of a segmenter, for Chinese and "
         "other "
         "scripts that rouge would drop";
}

std::vector<std::string> RougeZhMetric::columns() const { return RougeMetric().columns(); }

std::string RougeZhMetric::signature() const {
  return "rouge-zh|" + segmenter_->signature() + "|" + options_.signature() +
         "|stem:none|multi:max-f-per-metric|agg:mean|v:1";
}

std::string_view RougeZhMetric::note(const ScoreItem& item) const {
  const auto dropped = [](std::string_view text) {
    return piece_kind(text) == PieceKind::punctuation;
  };
  if (options_.drop_punctuation && any_text(item, dropped)) return kOnlySignsNote;
  if (segmenter_->signature() != PretokSegmenter().signature()) return {};
  if (!any_text(item, looks_unsegmented)) return {};
  return "the text has no spaces between Chinese words, and segmenter=pretok splits at nothing "
         "else; "
         "segmenter=icu, jieba or char finds words";
}

Result<std::vector<Statistics>> RougeZhMetric::measure(std::span<const ScoreItem> items) const {
  ZhTextEncoder encoder(segmenter_, options_);
  PreparedReference prepared;
  std::vector<Statistics> rows;
  rows.reserve(items.size());
  for (const ScoreItem& item : items) {
    if (Status status = check_texts(item, "rouge-zh"); !status) return status.error();
    const Result<RougeScores> scores = score(encoder, prepared, item);
    if (!scores) {
      Error error = scores.error();
      error.where = error.where.empty() ? item_name(item) : error.where;
      return error;
    }
    Statistics row;
    for (const Prf& prf : {scores->rouge1, scores->rouge2, scores->rougeL, scores->rougeLsum}) {
      row.insert(row.end(), {prf.precision, prf.recall, prf.f});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace qfs::metrics
