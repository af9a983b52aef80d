#include "methods/models/tokenizers/bpe/word_splitter.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace qfs::tokenizers {

namespace {

enum class CharacterClass : uint8_t { letter, number, space, other };

CharacterClass classify(UChar32 code_point) {
  const uint32_t category = U_GET_GC_MASK(code_point);
  if (category & U_GC_L_MASK) return CharacterClass::letter;
  if (category & U_GC_N_MASK) return CharacterClass::number;
  return u_isUWhiteSpace(code_point) ? CharacterClass::space : CharacterClass::other;
}

constexpr std::array<CharacterClass, 128> kAsciiClasses = [] {
  std::array<CharacterClass, 128> classes{};
  for (size_t c = 0; c < classes.size(); ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool number = c >= '0' && c <= '9';
    const bool space = c == ' ' || (c >= '\t' && c <= '\r');
    classes[c] = letter   ? CharacterClass::letter
                 : number ? CharacterClass::number
                 : space  ? CharacterClass::space
                          : CharacterClass::other;
  }
  return classes;
}();

/// Walks over one text; positions are byte offsets.
class Cursor {
 public:
  explicit Cursor(std::string_view text)
      : bytes_(reinterpret_cast<const uint8_t*>(text.data())),
        size_(static_cast<int64_t>(text.size())) {}

  int64_t size() const { return size_; }
  uint8_t byte(int64_t position) const { return bytes_[position]; }

  /// The class of the code point at `position` (inside the text) and where the next one begins.
  CharacterClass next(int64_t position, int64_t& after) const {
    if (bytes_[position] < 0x80) {
      after = position + 1;
      return kAsciiClasses[bytes_[position]];
    }
    UChar32 code_point = 0;
    U8_NEXT(bytes_, position, size_, code_point);
    after = position;
    return code_point < 0 ? CharacterClass::other : classify(code_point);
  }

  /// The end of the longest run of `wanted` from `position` that stops at `limit` at the latest.
  int64_t run(int64_t position, int64_t limit, CharacterClass wanted) const {
    int64_t after = 0;
    while (position < limit && next(position, after) == wanted) position = after;
    return position;
  }

 private:
  const uint8_t* bytes_;
  int64_t size_;
};

/// Length of the contraction ('s, 't, 're, 've, 'm, 'll, 'd) at `rest`; 0 when there is none.
int64_t contraction(std::string_view rest) {
  for (std::string_view suffix : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (rest.starts_with(suffix)) return static_cast<int64_t>(suffix.size());
  }
  return 0;
}

/// A run of white space from `begin` to `end`: all of it at the end of the range or when it is one
/// character, otherwise all but the last character, which belongs to what follows.
int64_t space_piece_end(const Cursor& cursor, int64_t begin, int64_t end, int64_t limit) {
  if (end == limit) return end;
  int64_t last = end;
  do {
    --last;
  } while (last > begin && (cursor.byte(last) & 0xC0) == 0x80);
  return last == begin ? end : last;
}

/// Cuts [begin, limit) by the GPT-2 pattern.
void split_gpt2(const Cursor& cursor, std::string_view text, int64_t begin, int64_t limit,
                const PieceVisitor& visit) {
  while (begin < limit) {
    const auto rest = text.substr(static_cast<size_t>(begin), static_cast<size_t>(limit - begin));
    int64_t end = rest[0] == '\'' ? begin + contraction(rest) : begin;
    if (end == begin) {
      const int64_t start = rest[0] == ' ' && rest.size() > 1 ? begin + 1 : begin;
      int64_t after = 0;
      const CharacterClass kind = cursor.next(start, after);
      if (kind != CharacterClass::space) {
        end = cursor.run(after, limit, kind);
      } else {
        end = cursor.run(begin, limit, CharacterClass::space);
        end = space_piece_end(cursor, begin, end, limit);
      }
    }
    visit(text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
    begin = end;
  }
}

}  // namespace

std::optional<WordPattern> word_pattern(std::string_view name) {
  if (name == "gpt-2") return WordPattern::gpt2;
  if (name == "smollm") return WordPattern::smollm;
  return std::nullopt;
}

void split_words(WordPattern pattern, std::string_view text, const PieceVisitor& visit) {
  const Cursor cursor(text);
  if (pattern == WordPattern::gpt2) {
    split_gpt2(cursor, text, 0, cursor.size(), visit);
    return;
  }
  int64_t begin = 0;
  for (int64_t position = 0; position < cursor.size();) {
    int64_t after = 0;
    const bool number = cursor.next(position, after) == CharacterClass::number;
    if (number) {
      split_gpt2(cursor, text, begin, position, visit);
      visit(text.substr(static_cast<size_t>(position), static_cast<size_t>(after - position)));
      begin = after;
    }
    position = after;
  }
  split_gpt2(cursor, text, begin, cursor.size(), visit);
}

}  // namespace qfs::tokenizers
