#include "methods/models/tokenizers/pipeline/lower_case.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>

#include <algorithm>

namespace qfs::tokenizers {

namespace {

constexpr int kTablesVersion = 9;
constexpr char32_t kCapitalIWithDot = 0x130;

/// Sorts runs of marks by combining class, stably.
void order_marks(std::vector<Change>& changes) {
  for (size_t begin = 0; begin < changes.size();) {
    if (combining_class(changes[begin].code_point) == 0) {
      ++begin;
      continue;
    }
    size_t end = begin;
    while (end < changes.size() && combining_class(changes[end].code_point) != 0) ++end;
    std::stable_sort(changes.begin() + static_cast<std::ptrdiff_t>(begin),
                     changes.begin() + static_cast<std::ptrdiff_t>(end),
                     [](const Change& a, const Change& b) {
                       return combining_class(a.code_point) < combining_class(b.code_point);
                     });
    begin = end;
  }
}

}  // namespace

uint8_t combining_class(char32_t c) {
  if (c < 0x300 || !assigned_in(c, kTablesVersion)) return 0;
  return u_getCombiningClass(static_cast<UChar32>(c));
}

void lower_case(AlignedText& text) {
  if (is_ascii(text.text())) {
    const std::string_view old = text.text();
    const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    if (std::none_of(old.begin(), old.end(), upper)) return;
    for (char& c : text.bytes_in_place()) {
      if (upper(c)) c = static_cast<char>(c + ('a' - 'A'));
    }
    return;
  }
  std::vector<Change> changes;
  changes.reserve(text.text().size());
  bool any = false;
  for_each_code_point(text.text(), [&](char32_t c, size_t, size_t) {
    const auto lower = static_cast<char32_t>(u_tolower(static_cast<UChar32>(c)));
    any = any || lower != c;
    changes.push_back({lower, 0});
    if (c == kCapitalIWithDot) changes.push_back({0x307, 1});
  });
  if (any) text.transform(changes);
}

std::vector<Change> decomposed(std::string_view text, bool compatibility) {
  UErrorCode error = U_ZERO_ERROR;
  const UNormalizer2* tables =
      compatibility ? unorm2_getNFKDInstance(&error) : unorm2_getNFDInstance(&error);
  std::vector<Change> changes;
  changes.reserve(text.size());
  for_each_code_point(text, [&](char32_t c, size_t, size_t) {
    UChar units[64];
    error = U_ZERO_ERROR;
    const int32_t length =
        c < 0xA0 || !assigned_in(c, kTablesVersion)
            ? -1
            : unorm2_getDecomposition(tables, static_cast<UChar32>(c), units, 64, &error);
    if (length < 0 || U_FAILURE(error)) {
      changes.push_back({c, 0});
      return;
    }
    for (int32_t i = 0; i < length;) {
      UChar32 part = 0;
      const bool first = i == 0;
      U16_NEXT(units, i, length, part);
      changes.push_back({static_cast<char32_t>(part), first ? 0 : 1});
    }
  });
  order_marks(changes);
  return changes;
}

void decompose(AlignedText& text) {
  if (is_ascii(text.text())) return;
  text.transform(decomposed(text.text(), false));
}

}  // namespace qfs::tokenizers
