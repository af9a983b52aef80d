#include "harness/core/json_dom.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/core/json_quick.h"
#include "harness/core/utf8.h"

namespace qfs {
namespace {

using nlohmann::json;

constexpr size_t kLongestExcerpt = 160;  // of a foreign key or token inside a message

std::string excerpt(std::string_view text) {
  if (text.size() <= kLongestExcerpt) return std::string(text);
  return std::string(text.substr(0, whole_code_points(text, kLongestExcerpt))) + "…";
}

/// "source:line:column" of a byte, both from 1; columns count code points as editors do.
std::string place(std::string_view source, std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t newline = before.rfind('\n');
  std::string_view in_line = newline == before.npos ? before : before.substr(newline + 1);
  if (newline == before.npos && in_line.starts_with("\xEF\xBB\xBF")) in_line.remove_prefix(3);
  // Counting lead bytes also works on text that is not well-formed up to here.
  const int64_t column = 1 + count_code_points(in_line);
  return std::string(source) + ":" + std::to_string(line) + ":" + std::to_string(column);
}

/// An input iterator over text that tells the SAX handler how far the lexer has read.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  const char** furthest_;
};

/// Builds the value while checking depth, duplicate keys and number ranges; stops at the first
/// fault.
class DomBuilder : public nlohmann::json_sax<json> {
 public:
  DomBuilder(std::string_view text, std::string_view source, const JsonLimits& limits)
      : text_(text), source_(source), limits_(limits), read_(text.data()) {}

  const char** read_position() { return &read_; }
  Result<json> finish(bool parsed) {
    if (!parsed) return error_;
    return std::move(root_);
  }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& digits) override {
    // An integer beyond 64 bits arrives here, already rounded.
    if (!limits_.python_numbers && digits.find_first_of(".eE") == digits.npos) {
      return fail("the integer " + excerpt(digits) + " does not fit into 64 bits",
                  text_.rfind(digits, consumed()));
    }
    return add(value);
  }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return fail("unexpected binary value", consumed()); }
  bool start_object(size_t /*elements*/) override { return open(json::object()); }
  bool start_array(size_t /*elements*/) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    const auto [member, inserted] = stack_.back()->emplace(name, nullptr);
    if (!inserted) {
      return fail("the key '" + excerpt(name) + "' occurs twice in one object", start_of_string());
    }
    member_ = &*member;
    return true;
  }

  bool parse_error(size_t position, const std::string& /*last_token*/,
                   const nlohmann::detail::exception& error) override {
    // "[json.exception…] parse error at line 1, column 2: syntax error while parsing …"
    std::string_view reason = error.what();
    for (const std::string_view mark : {"syntax error", "number overflow"}) {
      if (const size_t at = reason.find(mark); at != reason.npos) {
        reason.remove_prefix(at);
        break;
      }
    }
    const size_t offset = position > 0 ? position - 1 : 0;
    const size_t before =
        text_.substr(0, std::min(offset, text_.size())).find_last_not_of(" \t\r\n");
    const bool closed = offset < text_.size() && (text_[offset] == ']' || text_[offset] == '}');
    const bool comma = closed && before != text_.npos && text_[before] == ',';
    return fail("not valid JSON: " + excerpt(reason) + (comma ? "; a comma stands before it" : ""),
                offset);
  }

 private:
  size_t consumed() const { return static_cast<size_t>(read_ - text_.data()); }

  /// The opening quote of the string whose closing quote was read last.
  size_t start_of_string() const {
    size_t at = consumed() - 1;
    while (at > 0) {
      at = text_.rfind('"', at - 1);
      size_t backslashes = 0;
      while (backslashes < at && text_[at - 1 - backslashes] == '\\') ++backslashes;
      if (backslashes % 2 == 0) break;
    }
    return at;
  }

  bool fail(std::string message, size_t offset) {
    error_ = data_error(std::move(message), place(source_, text_, offset));
    return false;
  }

  json* put(json value) {
    if (stack_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (stack_.back()->is_array()) {
      stack_.back()->push_back(std::move(value));
      return &stack_.back()->back();
    }
    *member_ = std::move(value);
    return member_;
  }

  bool add(json value) {
    put(std::move(value));
    return true;
  }

  bool open(json container) {
    if (stack_.size() >= limits_.max_depth) {
      return fail("nested deeper than " + std::to_string(limits_.max_depth) + " levels",
                  consumed() - 1);
    }
    // Pointers on the stack stay valid: a container grows only at its innermost open end.
    stack_.push_back(put(std::move(container)));
    return true;
  }

  bool close() {
    stack_.pop_back();
    return true;
  }

  std::string_view text_;
  std::string_view source_;
  JsonLimits limits_;
  const char* read_;
  json root_;
  std::vector<json*> stack_;
  json* member_ = nullptr;
  Error error_;
};

/// The text with NaN, Infinity and -Infinity outside of strings in quotes.
std::string quote_non_finite(std::string_view text) {
  std::string quoted;
  bool in_string = false;
  for (size_t i = 0; i < text.size();) {
    size_t length = 1;
    if (in_string && text[i] == '\\') length = std::min<size_t>(2, text.size() - i);
    if (text[i] == '"') in_string = !in_string;
    bool named = false;
    for (const std::string_view name : {"NaN", "Infinity", "-Infinity"}) {
      if (in_string || !text.substr(i).starts_with(name)) continue;
      length = name.size();
      named = true;
    }
    const std::string_view mark = named ? "\"" : "";
    quoted.append(mark).append(text.substr(i, length)).append(mark);
    i += length;
  }
  return quoted;
}

}  // namespace

Result<json> parse_json(std::string_view text, std::string_view source, JsonLimits limits) {
  std::string scratch;
  return parse_json(text, source, scratch, limits);
}

Result<json> parse_json(std::string_view text, std::string_view source, std::string& scratch,
                        JsonLimits limits) {
  if (text.size() > limits.max_bytes) {
    return data_error("JSON of " + std::to_string(text.size()) + " bytes, allowed are " +
                          std::to_string(limits.max_bytes),
                      std::string(source));
  }
  if (const std::optional<size_t> bad = first_ill_formed_utf8(text)) {
    return data_error("ill-formed UTF-8", place(source, text, *bad));
  }
  // The lexer takes a zero byte for the end of its input and would ignore what follows.
  if (const size_t zero = text.find('\0'); zero != text.npos) {
    return data_error("not valid JSON: a zero byte", place(source, text, zero));
  }
  if (std::optional<json> value = quick_json(text, limits.max_depth, scratch)) {
    return *std::move(value);
  }
  std::string quoted;
  if (limits.python_numbers) text = quoted = quote_non_finite(text);
  DomBuilder builder(text, source, limits);
  const char* const begin = text.data();
  const bool parsed =
      json::sax_parse(CountingIterator(begin, builder.read_position()),
                      CountingIterator(begin + text.size(), builder.read_position()), &builder);
  return builder.finish(parsed);
}

bool has_schema(std::string_view text, std::string_view name) {
  const Result<nlohmann::json> object = parse_json(text, "");
  if (!object || !object->is_object()) return false;
  const auto schema = object->find("schema");
  return schema != object->end() && schema->is_string() &&
         schema->get_ref<const std::string&>().starts_with(name);
}

}  // namespace qfs
