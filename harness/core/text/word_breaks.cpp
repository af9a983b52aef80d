#include "harness/core/text/word_breaks.h"

#include <unicode/icudataver.h>
#include <unicode/ubrk.h>
#include <unicode/utext.h>
#include <unicode/uversion.h>

#include <memory>

namespace qfs {
namespace {

struct CloseText {
  void operator()(UText* text) const { utext_close(text); }
};
struct CloseIterator {
  void operator()(UBreakIterator* iterator) const { ubrk_close(iterator); }
};

std::string text_of(const UVersionInfo version) {
  char buffer[U_MAX_VERSION_STRING_LENGTH];
  u_versionToString(version, buffer);
  return buffer;
}

Status append_pieces(UBreakIteratorType type, const char* locale, std::string_view text,
                     std::vector<std::string_view>& pieces) {
  UErrorCode status = U_ZERO_ERROR;
  const auto failed = [&]() -> Status {
    return unavailable("ICU cannot find " +
                       std::string(type == UBRK_WORD ? "word boundaries" : "sentences") + ": " +
                       u_errorName(status));
  };
  const std::unique_ptr<UText, CloseText> source(
      utext_openUTF8(nullptr, text.data(), static_cast<int64_t>(text.size()), &status));
  if (U_FAILURE(status)) return failed();
  const std::unique_ptr<UBreakIterator, CloseIterator> iterator(
      ubrk_open(type, locale, nullptr, 0, &status));
  if (U_FAILURE(status)) return failed();
  ubrk_setUText(iterator.get(), source.get(), &status);
  if (U_FAILURE(status)) return failed();
  auto begin = static_cast<size_t>(ubrk_first(iterator.get()));
  for (int32_t next = ubrk_next(iterator.get()); next != UBRK_DONE;
       next = ubrk_next(iterator.get())) {
    const auto end = static_cast<size_t>(next);
    pieces.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return {};
}

}  // namespace

IcuVersions icu_versions() {
  UVersionInfo library;
  u_getVersion(library);
  UVersionInfo data;
  UErrorCode status = U_ZERO_ERROR;
  u_getDataVersion(data, &status);
  return {text_of(library), U_SUCCESS(status) ? text_of(data) : "none"};
}

Status append_icu_words(std::string_view text, std::vector<std::string_view>& words) {
  return append_pieces(UBRK_WORD, "zh", text, words);
}

Status append_icu_sentences(std::string_view text, std::vector<std::string_view>& sentences) {
  return append_pieces(UBRK_SENTENCE, "", text, sentences);
}

}  // namespace qfs
