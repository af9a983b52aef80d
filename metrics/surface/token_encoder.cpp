#include "metrics/surface/token_encoder.h"

#include "harness/core/text/unicode.h"
#include "harness/core/text/unicode_forms.h"
#include "metrics/chinese/segmenter_options.h"

namespace qfs::metrics {
std::string TokenRules::signature() const {
  return segmenter->signature() + "|case:" + (lower_case ? "lower" : "keep") +
         "|punct:" + (drop_punctuation ? "drop" : "keep");
}

std::vector<MetricOption> token_options() {
  std::vector<MetricOption> options = segmenter_options("icu");
  options.push_back(choice_option("case", {"lower", "keep"}, "whether words differ by case"));
  options.push_back(
      choice_option("punctuation", {"keep", "drop"}, "words of punctuation and symbols alone"));
  return options;
}

Result<TokenRules> token_rules(const MetricOptionValues& values) {
  Result<std::shared_ptr<const Segmenter>> segmenter = make_segmenter(values);
  if (!segmenter) return segmenter.error();
  return TokenRules{*std::move(segmenter), values.text("case") == "lower",
                    values.text("punctuation") == "drop"};
}

Result<WordNumbers> TokenEncoder::encode(std::string_view text) {
  pieces_.clear();
  if (Status status = rules_.segmenter->segment(text, pieces_); !status) return status.error();
  WordNumbers numbers;
  for (std::string_view piece : pieces_) {
    const PieceKind kind = piece_kind(piece);
    if (kind == PieceKind::space || (kind == PieceKind::punctuation && rules_.drop_punctuation))
      continue;
    if (rules_.lower_case) {
      lowered_.clear();
      append_lower_case(piece, lowered_);
      piece = lowered_;
    }
    numbers.push_back(words_.id(piece));
  }
  return numbers;
}

}  // namespace qfs::metrics
