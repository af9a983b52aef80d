#include <unicode/uchar.h>

#include <array>

#include "methods/models/tokenizers/bpe/word_splitter.h"
#include "methods/models/tokenizers/pipeline/pattern.h"

namespace qfs::tokenizers {

namespace {

enum class Kind : uint8_t { letter, number, space, newline, other };

Kind kind_of(char32_t c) {
  if (c == '\r' || c == '\n') return Kind::newline;
  const uint32_t category = U_GET_GC_MASK(static_cast<UChar32>(c));
  if (category & U_GC_L_MASK) return Kind::letter;
  if (category & U_GC_N_MASK) return Kind::number;
  return is_white_space(c) ? Kind::space : Kind::other;
}

const std::array<Kind, 128>& ascii_kinds() {
  static const std::array<Kind, 128> kKinds = [] {
    std::array<Kind, 128> kinds{};
    for (size_t c = 0; c < kinds.size(); ++c) kinds[c] = kind_of(static_cast<char32_t>(c));
    return kinds;
  }();
  return kKinds;
}

/// GPT-2's expression, by the splitter that GGUF tokenizers use.
class Gpt2Pattern final : public Pattern {
 public:
  void find(std::string_view text, std::vector<Match>& out) const override {
    split_words(WordPattern::gpt2, text, [&](std::string_view word) {
      const auto begin = static_cast<size_t>(word.data() - text.data());
      out.push_back({begin, begin + word.size(), true});
    });
  }
};

/// The expression of Llama 3 (digits in groups of up to three) and Qwen 2 (one by one):
/// contractions, letters with one character before, digits, symbols with a space before and line
/// ends after, white space up to its last line end, white space.
class Llama3Pattern final : public Pattern {
 public:
  explicit Llama3Pattern(size_t digits) : digits_(digits) {}

  void find(std::string_view text, std::vector<Match>& out) const override {
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = piece_end(text, begin);
      out.push_back({begin, end, true});
      begin = end;
    }
  }

 private:
  /// The kind of the code point at `position`; `after` is where the next one begins.
  static Kind kind_at(std::string_view text, size_t position, size_t& after) {
    const auto byte = static_cast<uint8_t>(text[position]);
    after = position + 1;
    if (byte < 0x80) return ascii_kinds()[byte];
    after = position;
    return kind_of(next_code_point(text, after));
  }

  static size_t run(std::string_view text, size_t position, Kind wanted,
                    size_t limit = std::string_view::npos) {
    size_t after = 0;
    for (; limit > 0 && position < text.size() && kind_at(text, position, after) == wanted;
         --limit) {
      position = after;
    }
    return position;
  }

  /// 's 't 're 've 'm 'll 'd in any case, ſ among the cases of s; 0 when there is none.
  static size_t contraction(std::string_view rest) {
    const auto lower = [&](size_t i) { return i < rest.size() ? rest[i] | 0x20 : 0; };
    if (rest.substr(1, 2) == "\u017F") return 3;
    switch (lower(1)) {
      case 's':
      case 't':
      case 'm':
      case 'd':
        return 2;
      case 'r':
      case 'v':
        return lower(2) == 'e' ? 3 : 0;
      case 'l':
        return lower(2) == 'l' ? 3 : 0;
      default:
        return 0;
    }
  }

  size_t piece_end(std::string_view text, size_t begin) const {
    if (text[begin] == '\'') {
      if (const size_t length = contraction(text.substr(begin))) return begin + length;
    }
    size_t after = 0;
    const Kind first = kind_at(text, begin, after);
    if (first == Kind::letter) return run(text, after, Kind::letter);
    if (first == Kind::number) return run(text, after, Kind::number, digits_ - 1);
    size_t second_after = 0;
    const bool more = after < text.size();
    if (first != Kind::newline && more && kind_at(text, after, second_after) == Kind::letter) {
      return run(text, second_after, Kind::letter);
    }
    if (first == Kind::other) return run(text, run(text, after, Kind::other), Kind::newline);
    if (text[begin] == ' ' && more && kind_at(text, after, second_after) == Kind::other) {
      return run(text, run(text, second_after, Kind::other), Kind::newline);
    }
    return space_end(text, begin);
  }

  /// White space: up to its last line end; else all of it at the end of the text or when it is one
  /// character; else all but its last character.
  static size_t space_end(std::string_view text, size_t begin) {
    size_t end = begin;
    size_t last = begin;
    size_t after_newline = 0;
    while (end < text.size()) {
      size_t after = 0;
      const Kind kind = kind_at(text, end, after);
      if (kind != Kind::space && kind != Kind::newline) break;
      if (kind == Kind::newline) after_newline = after;
      last = end;
      end = after;
    }
    if (after_newline > 0) return after_newline;
    return end == text.size() || last == begin ? end : last;
  }

  size_t digits_;
};

constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

}  // namespace

PatternPtr make_known_pattern(std::string_view expression) {
  if (expression == kGpt2) return std::make_shared<const Gpt2Pattern>();
  if (expression == kLlama3) return std::make_shared<const Llama3Pattern>(3);
  if (expression == kQwen2) return std::make_shared<const Llama3Pattern>(1);
  return nullptr;
}

}  // namespace qfs::tokenizers
