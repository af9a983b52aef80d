#include "metrics/surface/length_metric.h"

#include <memory>
#include <vector>

#include "harness/core/text/unicode.h"
#include "harness/core/text/word_breaks.h"
#include "harness/core/utf8.h"
#include "metrics/chinese/icu_segmenter.h"

namespace qfs::metrics {
namespace {

/// The lines of a sentence that have something else than white space and punctuation.
int64_t lines_with_words(std::string_view sentence) {
  int64_t lines = 0;
  bool has_word = false;
  for (size_t i = 0; i < sentence.size();) {
    const CodePoint point = code_point_at(sentence, i);
    i += point.bytes;
    if (point.value == '\n') {
      lines += has_word ? 1 : 0;
      has_word = false;
    } else {
      has_word = has_word || (!is_python_space(point.value) && !is_punctuation(point.value));
    }
  }
  return lines + (has_word ? 1 : 0);
}

}  // namespace

Result<int64_t> count_sentences(std::string_view text) {
  std::vector<std::string_view> pieces;
  if (Status found = append_icu_sentences(text, pieces); !found) return found.error();
  int64_t sentences = 0;
  for (const std::string_view piece : pieces) sentences += lines_with_words(piece);
  return sentences;
}

std::string_view LengthMetric::doc() const {
  return "Words, characters (code points) and sentences of the prediction";
}

std::vector<std::string> LengthMetric::columns() const {
  return {"length.words", "length.characters", "length.sentences"};
}

std::string LengthMetric::signature() const {
  // The sentences are ICU's whatever finds the words.
  std::string icu = IcuSegmenter().signature();
  icu.replace(0, std::string("seg:").size(), "sent:");
  std::string words = rules().signature();
  if (words.starts_with("seg:icu|")) words.replace(0, IcuSegmenter().signature().size(), "seg:icu");
  return "length|" + words + "|" + icu + "|char:code-points|agg:mean|v:1";
}

Result<Statistics> LengthMetric::row(const ScoreItem& item, const Words& words,
                                     const TokenEncoder&) const {
  const Result<int64_t> sentences = count_sentences(item.candidate);
  if (!sentences) return sentences.error();
  return Statistics{static_cast<double>(words.candidate.size()),
                    static_cast<double>(count_code_points(item.candidate)),
                    static_cast<double>(*sentences)};
}

}  // namespace qfs::metrics
