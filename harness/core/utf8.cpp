#include "harness/core/utf8.h"

#include <algorithm>
#include <cstring>

namespace qfs {
namespace {

/// What stands at the front of `text` (not empty): a whole code point, or the length of the maximal
/// subpart of an ill-formed sequence, at least one byte (Unicode 15, table 3-7 and section 3.9).
struct Front {
  size_t bytes;
  bool well_formed;
};

Front front_of(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {1, true};
  size_t length = 0;
  unsigned second_low = 0x80;
  unsigned second_high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) second_low = 0xA0;   // overlong
    if (lead == 0xED) second_high = 0x9F;  // surrogates
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) second_low = 0x90;   // overlong
    if (lead == 0xF4) second_high = 0x8F;  // beyond U+10FFFF
  } else {
    return {1, false};
  }
  if (text.size() < 2 || byte(1) < second_low || byte(1) > second_high) return {1, false};
  for (size_t i = 2; i < length; ++i) {
    if (i >= text.size() || (byte(i) & 0xC0U) != 0x80U) return {i, false};
  }
  return {length, true};
}

/// Length of the leading run of ASCII, eight bytes at a time.
size_t ascii_run(std::string_view text) {
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t block = 0;
    std::memcpy(&block, text.data() + i, 8);
    if ((block & 0x8080808080808080ULL) != 0) break;
  }
  while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80) ++i;
  return i;
}

/// Length of the leading well-formed part.
size_t well_formed_run(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    i += ascii_run(text.substr(i));
    while (i < text.size() && static_cast<unsigned char>(text[i]) >= 0x80) {
      const Front front = front_of(text.substr(i));
      if (!front.well_formed) return i;
      i += front.bytes;
    }
  }
  return i;
}

}  // namespace

std::optional<size_t> first_ill_formed_utf8(std::string_view text) {
  const size_t run = well_formed_run(text);
  if (run == text.size()) return std::nullopt;
  return run;
}

RepairedText repair_utf8(std::string_view text) {
  RepairedText repaired;
  while (true) {
    const size_t run = well_formed_run(text);
    repaired.text.append(text.substr(0, run));
    text.remove_prefix(run);
    if (text.empty()) return repaired;
    const size_t bad = front_of(text).bytes;
    repaired.text += "\xEF\xBF\xBD";
    repaired.replaced_bytes += static_cast<int64_t>(bad);
    text.remove_prefix(bad);
  }
}

size_t whole_code_points(std::string_view text, size_t limit) {
  if (limit >= text.size()) return text.size();
  // The longest code point has three continuation bytes; more of them is not text, and is cut where
  // it was asked.
  for (size_t back = 0; back <= std::min<size_t>(limit, 3); ++back) {
    if ((static_cast<unsigned char>(text[limit - back]) & 0xC0U) != 0x80U) return limit - back;
  }
  return limit;
}

int64_t count_code_points(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

}  // namespace qfs
