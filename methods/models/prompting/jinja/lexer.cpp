#include "methods/models/prompting/jinja/lexer.h"

#include <algorithm>
#include <array>

#include "methods/models/prompting/jinja/value.h"
#include "methods/models/tokenizers/pipeline/code_points.h"

namespace qfs::prompting::jinja {

namespace {

constexpr std::array<std::string_view, 26> kSymbols = {
    "**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "~", "<",
    ">",  "=",  "(",  ")",  "[",  "]",  "{", "}", ",", ":", ".", "|", ";"};

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class Lexer {
 public:
  explicit Lexer(std::string_view source) {
    for (size_t i = 0; i < source.size(); ++i) {
      if (source[i] != '\r') {
        storage_ += source[i];
      } else if (i + 1 == source.size() || source[i + 1] != '\n') {
        storage_ += '\n';
      }
    }
    if (storage_.ends_with('\n')) storage_.pop_back();
    source_ = storage_;
  }

  std::vector<TemplateToken> run() {
    while (position_ < source_.size()) read_data();
    add(TokenKind::end, "", position_);
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail(const std::string& message, size_t at) {
    TemplateError error(message);
    const TemplateToken place = at_place(at);
    error.line = place.line;
    error.column = place.column;
    throw error;
  }

  /// Line and column of a byte; asked for growing positions.
  TemplateToken at_place(size_t at) {
    for (; counted_ < std::min(at, source_.size()); ++counted_) {
      const char c = source_[counted_];
      if (c == '\n') {
        ++line_;
        column_ = 1;
      } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
        ++column_;
      }
    }
    TemplateToken token;
    token.line = line_;
    token.column = column_;
    return token;
  }

  void add(TokenKind kind, std::string text, size_t at) {
    TemplateToken token = at_place(at);
    token.kind = kind;
    token.text = std::move(text);
    tokens_.push_back(std::move(token));
  }

  size_t next_delimiter(size_t from) const {
    for (size_t at = source_.find('{', from); at != source_.npos; at = source_.find('{', at + 1)) {
      const char next = at + 1 < source_.size() ? source_[at + 1] : ' ';
      if (next == '%' || next == '{' || next == '#') return at;
    }
    return source_.npos;
  }

  /// Text up to the next delimiter, with the white space that the delimiters take away.
  void read_data() {
    const size_t begin = position_;
    const size_t delimiter = next_delimiter(position_);
    size_t end = delimiter == source_.npos ? source_.size() : delimiter;
    position_ = end;
    const char kind = delimiter == source_.npos ? ' ' : source_[delimiter + 1];
    const char mark =
        delimiter == source_.npos || delimiter + 2 >= source_.size() ? ' ' : source_[delimiter + 2];
    if (mark == '-') {
      while (end > begin && is_space(source_[end - 1])) --end;
    } else if (mark != '+' && (kind == '%' || kind == '#')) {
      // lstrip_blocks: blanks between the line's begin and the block.
      size_t blank = end;
      while (blank > begin && is_space(source_[blank - 1]) && source_[blank - 1] != '\n') --blank;
      if (blank > begin ? source_[blank - 1] == '\n' : begin == 0 || source_[begin - 1] == '\n') {
        end = blank;
      }
    }
    if (end > begin) add(TokenKind::data, std::string(source_.substr(begin, end - begin)), begin);
    if (delimiter == source_.npos) return;
    position_ = delimiter + 2;
    if (mark == '-' || mark == '+') ++position_;
    if (kind == '#') return skip_comment(delimiter);
    if (kind == '%' && read_raw(delimiter)) return;
    add(kind == '%' ? TokenKind::block_begin : TokenKind::variable_begin, "", delimiter);
    read_inside(kind == '%' ? "%}" : "}}", delimiter);
  }

  /// What follows a closing delimiter: '-' takes all white space, blocks their line end.
  void after(size_t end, bool strip, bool keep, bool trim) {
    position_ = end;
    if (strip) {
      while (position_ < source_.size() && is_space(source_[position_])) ++position_;
    } else if (trim && !keep) {
      if (position_ < source_.size() && source_[position_] == '\n') ++position_;
    }
  }

  void skip_comment(size_t begin) {
    const size_t end = source_.find("#}", position_);
    if (end == source_.npos) fail("a comment does not end", begin);
    const char mark = end > position_ ? source_[end - 1] : ' ';
    after(end + 2, mark == '-', mark == '+', true);
  }

  /// {% raw %} … {% endraw %}; false when this block is another.
  bool read_raw(size_t delimiter) {
    size_t at = position_;
    const auto blanks = [&] {
      while (at < source_.size() && is_space(source_[at])) ++at;
    };
    blanks();
    if (!source_.substr(at).starts_with("raw")) return false;
    at += 3;
    blanks();
    const bool strip = at < source_.size() && source_[at] == '-';
    if (strip) ++at;
    if (!source_.substr(at).starts_with("%}")) return false;
    after(at + 2, strip, false, true);
    const size_t begin = position_;
    for (size_t open = source_.find("{%", begin); open != source_.npos;
         open = source_.find("{%", open + 2)) {
      at = open + 2;
      const bool strip_before = at < source_.size() && source_[at] == '-';
      if (strip_before) ++at;
      blanks();
      if (!source_.substr(at).starts_with("endraw")) continue;
      at += 6;
      blanks();
      const bool strip_after = at < source_.size() && source_[at] == '-';
      if (strip_after) ++at;
      if (!source_.substr(at).starts_with("%}")) continue;
      size_t end = open;
      while (strip_before && end > begin && is_space(source_[end - 1])) --end;
      if (end > begin) add(TokenKind::data, std::string(source_.substr(begin, end - begin)), begin);
      after(at + 2, strip_after, false, true);
      return true;
    }
    fail("a raw block does not end", delimiter);
  }

  void read_inside(std::string_view closing, size_t begin) {
    const bool block = closing == "%}";
    std::vector<char> brackets;
    while (true) {
      while (position_ < source_.size() && is_space(source_[position_])) ++position_;
      if (position_ >= source_.size()) fail("a block does not end", begin);
      const std::string_view rest = source_.substr(position_);
      const bool marked = rest.size() > 2 && (rest[0] == '-' || rest[0] == '+') &&
                          rest.substr(1).starts_with(closing) && (rest[0] == '-' || block);
      if (brackets.empty() && (marked || rest.starts_with(closing))) {
        add(block ? TokenKind::block_end : TokenKind::variable_end, "", position_);
        return after(position_ + (marked ? 3 : 2), marked && rest[0] == '-',
                     marked && rest[0] == '+', block);
      }
      read_token(rest, brackets);
    }
  }

  void read_token(std::string_view rest, std::vector<char>& brackets) {
    const size_t begin = position_;
    const char c = rest.front();
    if (is_name_start(c)) {
      size_t length = 1;
      while (length < rest.size() && (is_name_start(rest[length]) || is_digit(rest[length])))
        ++length;
      position_ += length;
      return add(TokenKind::name, std::string(rest.substr(0, length)), begin);
    }
    if (is_digit(c)) return read_number(rest);
    if (c == '\'' || c == '"') return read_text(rest);
    for (const std::string_view symbol : kSymbols) {
      if (!rest.starts_with(symbol)) continue;
      if (symbol == "(" || symbol == "[" || symbol == "{") brackets.push_back(c);
      if (symbol == ")" || symbol == "]" || symbol == "}") {
        const char open = c == ')' ? '(' : c == ']' ? '[' : '{';
        if (brackets.empty() || brackets.back() != open) {
          fail(std::string("'") + c + "' without its opening bracket", begin);
        }
        brackets.pop_back();
      }
      position_ += symbol.size();
      return add(TokenKind::symbol, std::string(symbol), begin);
    }
    fail(std::string("unexpected character '") + c + "'", begin);
  }

  void read_number(std::string_view rest) {
    size_t length = 0;
    std::string digits;
    bool real = false;
    const auto take = [&] {
      while (length < rest.size() && (is_digit(rest[length]) || rest[length] == '_')) {
        if (rest[length] != '_') digits += rest[length];
        ++length;
      }
    };
    take();
    if (length + 1 < rest.size() && rest[length] == '.' && is_digit(rest[length + 1])) {
      real = true;
      digits += rest[length++];
      take();
    }
    if (length < rest.size() && (rest[length] | 0x20) == 'e') {
      size_t next = length + 1;
      if (next < rest.size() && (rest[next] == '+' || rest[next] == '-')) ++next;
      if (next < rest.size() && is_digit(rest[next])) {
        real = true;
        digits.append(rest.substr(length, next - length));
        length = next;
        take();
      }
    }
    add(real ? TokenKind::real : TokenKind::integer, digits, position_);
    position_ += length;
  }

  void read_text(std::string_view rest) {
    const char quote = rest.front();
    std::string text;
    size_t at = 1;
    for (; at < rest.size() && rest[at] != quote; ++at) {
      if (rest[at] != '\\' || at + 1 == rest.size()) {
        text += rest[at];
        continue;
      }
      at = read_escape(rest, at + 1, text);
    }
    if (at >= rest.size()) fail("a text does not end", position_);
    add(TokenKind::text, std::move(text), position_);
    position_ += at + 1;
  }

  /// The escape whose letter is at `at`; returns the position of its last byte.
  size_t read_escape(std::string_view rest, size_t at, std::string& text) {
    constexpr std::string_view kLetters = "ntrbfav0\\'\"";
    constexpr std::string_view kMeanings("\n\t\r\b\f\a\v\0\\'\"", 11);
    const char c = rest[at];
    if (c == '\n') return at;  // a continued line
    if (const size_t known = kLetters.find(c); known != kLetters.npos) {
      text += kMeanings[known];
      return at;
    }
    const size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits == 0) {
      text.append({'\\', c});
      return at;
    }
    char32_t code_point = 0;
    for (size_t i = 1; i <= digits; ++i) {
      const char digit = at + i < rest.size() ? rest[at + i] : ' ';
      const int value = is_digit(digit)                                  ? digit - '0'
                        : (digit | 0x20) >= 'a' && (digit | 0x20) <= 'f' ? (digit | 0x20) - 'a' + 10
                                                                         : -1;
      if (value < 0) fail("an escape in a text is not complete", position_);
      code_point = code_point * 16 + static_cast<char32_t>(value);
    }
    if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point < 0xE000)) {
      fail("an escape in a text is no character", position_);
    }
    tokenizers::append_code_point(text, code_point);
    return at + digits;
  }

  std::string storage_;  ///< with line ends of one kind
  std::string_view source_;
  size_t position_ = 0;
  size_t counted_ = 0;
  int line_ = 1;
  int column_ = 1;
  std::vector<TemplateToken> tokens_;
};

}  // namespace

std::vector<TemplateToken> tokenize_template(std::string_view source) {
  return Lexer(source).run();
}

}  // namespace qfs::prompting::jinja
