#include "metrics/surface/token_encoder.h"

#include "harness/core/text/unicode.h"
#include "harness/core/text/unicode_forms.h"
#include "metrics/chinese/segmenter_options.h"

namespace qfs::metrics {
namespace {

enum class Kind { space, punctuation, word };

/// What a piece is made of, taken together.
Kind kind_of(std::string_view piece) {
  Kind kind = Kind::space;
  for (size_t i = 0; i < piece.size();) {
    const CodePoint point = code_point_at(piece, i);
    i += point.bytes;
    if (is_python_space(point.value)) continue;
    if (!is_punctuation(point.value)) return Kind::word;
    kind = Kind::punctuation;
  }
  return kind;
}

MetricOption choice(std::string name, std::vector<std::string> choices, std::string doc) {
  MetricOption option;
  option.name = std::move(name);
  option.default_value = choices.front();
  option.choices = std::move(choices);
  option.doc = std::move(doc);
  return option;
}

}  // namespace

std::string LogitsProcessors::signature() const {
  return segmenter->signature() + "|case:" + (lower_case ? "lower" : "keep") +
         "|punct:" + (drop_punctuation ? "drop" : "keep");
}

std::vector<MetricOption> token_options() {
  std::vector<MetricOption> options = segmenter_options("icu");
  options.push_back(choice("case", {"lower", "keep"}, "whether words differ by case"));
  options.push_back(
      choice("punctuation", {"keep", "drop"}, "words of punctuation and symbols alone"));
  return options;
}

Result<LogitsProcessors> token_rules(const MetricOptionValues& values) {
  Result<std::shared_ptr<const Segmenter>> segmenter = make_segmenter(values);
  if (!segmenter) return segmenter.error();
  return LogitsProcessors{*std::move(segmenter), values.text("case") == "lower",
                          values.text("punctuation") == "drop"};
}

Result<WordNumbers> TokenEncoder::encode(std::string_view text) {
  pieces_.clear();
  if (Status status = rules_.segmenter->segment(text, pieces_); !status) return status.error();
  WordNumbers numbers;
  for (std::string_view piece : pieces_) {
    const Kind kind = kind_of(piece);
    if (kind == Kind::space || (kind == Kind::punctuation && rules_.drop_punctuation)) continue;
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
