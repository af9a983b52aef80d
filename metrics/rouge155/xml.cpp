#include "metrics/rouge155/xml.h"

#include <algorithm>
#include <cstdint>

#include "harness/core/utf8.h"
#include "metrics/rouge155/sentences.h"

namespace qfs::metrics::rouge155 {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_name_byte(char c) {
  return !is_blank(c) && std::string_view("<>/=\"'&!?\0", 10).find(c) == std::string_view::npos;
}

void append_utf8(std::string& text, uint32_t code) {
  const auto put = [&](uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0U | code >> 6U);
  } else {
    if (code < 0x10000) {
      put(0xE0U | code >> 12U);
    } else {
      put(0xF0U | code >> 18U);
      put(0x80U | (code >> 12U & 0x3FU));
    }
    put(0x80U | (code >> 6U & 0x3FU));
  }
  put(0x80U | (code & 0x3FU));
}

bool is_xml_character(uint32_t code) {
  if (code < 0x20) return code == '\t' || code == '\n' || code == '\r';
  return code < 0xD800 || (code >= 0xE000 && code <= 0x10FFFF && code != 0xFFFE && code != 0xFFFF);
}

/// "#65" or "#x41"; std::nullopt when it is none.
std::optional<uint32_t> character_reference(std::string_view name) {
  if (!name.starts_with("#")) return std::nullopt;
  name.remove_prefix(1);
  uint32_t base = 10;
  if (name.starts_with("x")) {
    base = 16;
    name.remove_prefix(1);
  }
  if (name.empty() || name.size() > 8) return std::nullopt;
  uint32_t code = 0;
  for (char c : name) {
    const uint32_t digit = c >= '0' && c <= '9'   ? static_cast<uint32_t>(c - '0')
                           : c >= 'a' && c <= 'f' ? static_cast<uint32_t>(c - 'a') + 10
                           : c >= 'A' && c <= 'F' ? static_cast<uint32_t>(c - 'A') + 10
                                                  : 99;
    if (digit >= base) return std::nullopt;
    code = code * base + digit;
  }
  if (!is_xml_character(code)) return std::nullopt;
  return code;
}

class Parser {
 public:
  Parser(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  }

  Result<XmlElement> document() {
    if (Status status = declaration(); !status) return status.error();
    if (Status status = misc(true); !status) return status.error();
    XmlElement root;
    if (!looking_at("<")) return error("expected an element");
    if (Status status = element(root, 1); !status) return status.error();
    if (Status status = misc(false); !status) return status.error();
    if (at_ < text_.size()) return error("nothing may follow the root element");
    return root;
  }

 private:
  Error error(const std::string& message) {
    return data_error(message, name_ + ":" + std::to_string(line()));
  }

  /// The line of the place reached, counted on from where it was asked last.
  size_t line() {
    const std::string_view passed = text_.substr(counted_, at_ - counted_);
    line_ += static_cast<size_t>(std::count(passed.begin(), passed.end(), '\n'));
    counted_ = at_;
    return line_;
  }

  bool looking_at(std::string_view token) const { return text_.substr(at_).starts_with(token); }
  bool take(std::string_view token) {
    if (!looking_at(token)) return false;
    at_ += token.size();
    return true;
  }
  bool blanks() {
    const size_t begin = at_;
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    return at_ > begin;
  }
  Result<std::string_view> until(std::string_view end, const std::string& what) {
    const size_t found = text_.find(end, at_);
    if (found == std::string_view::npos) return error(what + " does not end");
    const std::string_view inside = text_.substr(at_, found - at_);
    at_ = found + end.size();
    return inside;
  }

  Status declaration() {
    if (!looking_at("<?xml") || at_ + 5 >= text_.size() || !is_blank(text_[at_ + 5])) return {};
    Result<std::string_view> inside = until("?>", "the XML declaration");
    if (!inside) return inside.error();
    const size_t key = inside->find("encoding");
    if (key == std::string_view::npos) return {};
    std::string encoding;
    for (char c : inside->substr(key + 8)) {
      if (c == '"' || c == '\'' || c == '=' || is_blank(c)) {
        if (!encoding.empty()) break;
        continue;
      }
      encoding.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    }
    if (encoding == "utf-8" || encoding == "us-ascii" || encoding == "ascii") return {};
    return error("encoding '" + encoding + "'; only UTF-8 is read");
  }

  /// Blanks, comments, processing instructions and, before the root, a document type.
  Status misc(bool before_root) {
    while (true) {
      blanks();
      if (before_root && take("<!DOCTYPE")) {
        Result<std::string_view> inside = until(">", "the document type");
        if (!inside) return inside.error();
        if (inside->find('[') != std::string_view::npos) {
          return error("a document type with declarations is not read");
        }
        continue;
      }
      Result<bool> skipped = comment_or_instruction();
      if (!skipped) return skipped.error();
      if (!*skipped) return {};
    }
  }

  Result<bool> comment_or_instruction() {
    const bool comment = take("<!--");
    if (!comment && !take("<?")) return false;
    Result<std::string_view> inside =
        comment ? until("-->", "a comment") : until("?>", "a processing instruction");
    if (!inside) return inside.error();
    return true;
  }

  std::string_view name() {
    const size_t begin = at_;
    while (at_ < text_.size() && is_name_byte(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  /// An entity or character reference after its '&'.
  Status reference(std::string& value) {
    const size_t end = text_.substr(at_, 12).find(';');
    if (end == std::string_view::npos) return error("'&' begins no reference; write &amp;");
    const std::string_view name = text_.substr(at_, end);
    constexpr std::pair<std::string_view, char> kNamed[] = {
        {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    for (const auto& [entity, character] : kNamed) {
      if (name != entity) continue;
      value.push_back(character);
      at_ += end + 1;
      return {};
    }
    const std::optional<uint32_t> code = character_reference(name);
    if (!code) return error("unknown reference '&" + std::string(name) + ";'");
    append_utf8(value, *code);
    at_ += end + 1;
    return {};
  }

  Status attribute(XmlElement& element) {
    const std::string key(name());
    if (key.empty()) return error("expected an attribute or '>' in <" + element.name + ">");
    blanks();
    if (!take("=")) return error("attribute '" + key + "' has no value");
    blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '"' && quote != '\'') return error("the value of '" + key + "' has no quotes");
    ++at_;
    std::string value;
    while (true) {
      if (at_ >= text_.size()) return error("the value of '" + key + "' does not end");
      const char c = text_[at_++];
      if (c == quote) break;
      if (c == '<') return error("'<' in the value of '" + key + "'; write &lt;");
      if (c != '&') {
        value.push_back(is_blank(c) ? ' ' : c);
      } else if (Status status = reference(value); !status) {
        return status;
      }
    }
    if (element.attribute(key) != nullptr) return error("attribute '" + key + "' is given twice");
    element.attributes.emplace_back(key, std::move(value));
    return {};
  }

  Status element(XmlElement& element, size_t depth) {
    if (depth > kMaxXmlDepth) {
      return error("elements are nested more than " + std::to_string(kMaxXmlDepth) + " deep");
    }
    if (++elements_ > kMaxXmlElements) return error("too many elements");
    element.line = line();
    take("<");
    element.name = name();
    if (element.name.empty()) return error("expected the name of an element after '<'");
    while (true) {
      const bool blank = blanks();
      if (take("/>")) return {};
      if (take(">")) return content(element, depth);
      if (!blank) return error("expected '>' to end <" + element.name + ">");
      if (Status status = attribute(element); !status) return status;
    }
  }

  Status content(XmlElement& element, size_t depth) {
    bool in_text = false;
    const auto text = [&]() -> std::string& {
      if (!in_text) element.last_text.emplace();
      in_text = true;
      return *element.last_text;
    };
    while (at_ < text_.size()) {
      if (take("</")) {
        if (name() != element.name) return error("<" + element.name + "> is not closed");
        blanks();
        if (!take(">")) return error("expected '>' to end </" + element.name + ">");
        return {};
      }
      if (take("<![CDATA[")) {
        Result<std::string_view> inside = until("]]>", "a CDATA section");
        if (!inside) return inside.error();
        if (!inside->empty()) text() += *inside;
        continue;
      }
      Result<bool> skipped = comment_or_instruction();
      if (!skipped) return skipped.error();
      if (*skipped) {
        in_text = false;
      } else if (looking_at("<")) {
        in_text = false;
        if (Status status = this->element(element.children.emplace_back(), depth + 1); !status) {
          return status;
        }
      } else if (take("&")) {
        if (Status status = reference(text()); !status) return status;
      } else {
        const size_t end = std::min(text_.find_first_of("<&", at_), text_.size());
        text() += text_.substr(at_, end - at_);
        at_ = end;
      }
    }
    return error("<" + element.name + "> of line " + std::to_string(element.line) +
                 " is not closed");
  }

  std::string_view text_;
  std::string name_;
  size_t at_ = 0;
  size_t counted_ = 0;
  size_t line_ = 1;
  size_t elements_ = 0;
};

}  // namespace

const std::string* XmlElement::attribute(std::string_view name) const {
  for (const auto& [key, value] : attributes) {
    if (key == name) return &value;
  }
  return nullptr;
}

Result<XmlElement> parse_xml(std::string_view text, const std::string& name) {
  if (const std::optional<size_t> bad = first_ill_formed_utf8(text)) {
    return data_error("not valid UTF-8 at byte " + std::to_string(*bad), name);
  }
  return Parser(text, name).document();
}

}  // namespace qfs::metrics::rouge155
