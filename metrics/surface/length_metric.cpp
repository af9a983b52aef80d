#include "metrics/surface/length_metric.h"

#include <unicode/ubrk.h>
#include <unicode/utext.h>

#include <memory>

#include "harness/core/text/unicode.h"
#include "harness/core/utf8.h"
#include "metrics/chinese/icu_segmenter.h"

namespace qfs::metrics {
namespace {

struct CloseText {
  void operator()(UText* text) const { utext_close(text); }
};
struct CloseIterator {
  void operator()(UBreakIterator* iterator) const { ubrk_close(iterator); }
};

Error icu_error(UErrorCode status) {
  return unavailable("ICU cannot find sentences: " + std::string(u_errorName(status)));
}

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
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<UText, CloseText> source(
      utext_openUTF8(nullptr, text.data(), static_cast<int64_t>(text.size()), &status));
  if (U_FAILURE(status)) return icu_error(status);
  const std::unique_ptr<UBreakIterator, CloseIterator> iterator(
      ubrk_open(UBRK_SENTENCE, "", nullptr, 0, &status));
  if (U_FAILURE(status)) return icu_error(status);
  ubrk_setUText(iterator.get(), source.get(), &status);
  if (U_FAILURE(status)) return icu_error(status);
  int64_t sentences = 0;
  auto begin = static_cast<size_t>(ubrk_first(iterator.get()));
  for (int32_t next = ubrk_next(iterator.get()); next != UBRK_DONE;
       next = ubrk_next(iterator.get())) {
    const auto end = static_cast<size_t>(next);
    sentences += lines_with_words(text.substr(begin, end - begin));
    begin = end;
  }
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
