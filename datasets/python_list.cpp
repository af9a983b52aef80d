#include "datasets/python_list.h"

#include <cstdint>
#include <utility>

namespace qfs::datasets {
namespace {

void append_code_point(std::string& text, uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | (code >> 6));
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | (code >> 12));
    text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    text += static_cast<char>(0xF0 | (code >> 18));
    text += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  }
}

/// Reads tokens of one list; every function is false (or empty) at the first surprise.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<std::vector<std::string>> list() {
    std::vector<std::string> items;
    spaces();
    if (!take('[')) return std::nullopt;
    spaces();
    while (!take(']')) {
      std::string item;
      if (!string(item)) return std::nullopt;
      items.push_back(std::move(item));
      spaces();
      if (take(',')) {
        spaces();
      } else if (!peek(']')) {
        return std::nullopt;
      }
    }
    spaces();
    if (at_ != text_.size()) return std::nullopt;
    return items;
  }

 private:
  bool peek(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(char c) {
    if (!peek(c)) return false;
    ++at_;
    return true;
  }
  void spaces() {
    while (peek(' ') || peek('\t') || peek('\n') || peek('\r')) ++at_;
  }

  bool string(std::string& item) {
    const char quote = peek('"') ? '"' : '\'';
    if (!take(quote)) return false;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] != '\\') {
        item += text_[at_++];
      } else if (!escape(item)) {
        return false;
      }
    }
    return take(quote);
  }

  bool escape(std::string& item) {
    ++at_;
    if (at_ == text_.size()) return false;
    const char c = text_[at_++];
    switch (c) {
      case 'n':
        item += '\n';
        return true;
      case 't':
        item += '\t';
        return true;
      case 'r':
        item += '\r';
        return true;
      case '\\':
      case '\'':
      case '"':
        item += c;
        return true;
      case 'x':
        return code_point(item, 2);
      case 'u':
        return code_point(item, 4);
      case 'U':
        return code_point(item, 8);
      default:
        return false;
    }
  }

  bool code_point(std::string& item, int digits) {
    uint32_t code = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
      if (at_ == text_.size()) return false;
      const char c = text_[at_];
      const bool digit = c >= '0' && c <= '9';
      const bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'f';
      if (!digit && !letter) return false;
      code = code * 16 + static_cast<uint32_t>(digit ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
    append_code_point(item, code);
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::optional<std::vector<std::string>> parse_python_list(std::string_view text) {
  return Parser(text).list();
}

}  // namespace qfs::datasets
