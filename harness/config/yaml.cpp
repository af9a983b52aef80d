// YAML by the events of libyaml-cpp: its own trees share what aliases name, and lose where things
// stood.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <istream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <streambuf>
#include <vector>

#include "harness/config/document.h"
#include "harness/core/json_dom.h"
#include "harness/core/utf8.h"

namespace qfs::config {
namespace {

using nlohmann::json;

constexpr size_t kMaxDepth = 64;  // as of JSON

/// The text as a stream, not copied.
class TextBuffer : public std::streambuf {
 public:
  explicit TextBuffer(std::string_view text) {
    char* const begin = const_cast<char*>(text.data());  // NOLINT: only read
    setg(begin, begin, begin + text.size());
  }
};

/// "path:line:column", from 1; the library counts bytes in a line, editors count characters.
std::string place(std::string_view text, const std::string& path, const YAML::Mark& mark) {
  if (mark.is_null()) return path;
  size_t begin = 0;
  for (int line = 0; line < mark.line; ++line) {
    const size_t end = text.find('\n', begin);
    if (end == text.npos) break;
    begin = end + 1;
  }
  const std::string_view before = text.substr(begin, static_cast<size_t>(mark.column));
  return path + ":" + std::to_string(mark.line + 1) + ":" +
         std::to_string(count_code_points(before) + 1);
}

/// Thrown through the parser, which has no other way to be stopped.
struct Refused {
  Error error;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_json_number(std::string_view text) {
  size_t at = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > begin;
  };
  if (at < text.size() && text[at] == '0') {
    ++at;
  } else if (!digits()) {
    return false;
  }
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits()) return false;
  }
  return at == text.size();
}

std::string lowered(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

/// Whether some version of YAML takes it for a number: 010, 0x1F, +1, 1_000, 1:20, .5, .inf.
bool resembles_number(std::string_view text) {
  std::string rest = lowered(text);
  if (rest.starts_with('+') || rest.starts_with('-')) rest.erase(0, 1);
  if (rest == ".inf" || rest == ".nan") return true;
  for (const std::string_view base : {"0x", "0o", "0b"}) {
    const std::string_view digits = base == "0x" ? "0123456789abcdef_" : "01234567_";
    if (rest.starts_with(base) && rest.size() > 2 &&
        rest.find_first_not_of(digits, 2) == rest.npos) {
      return true;
    }
  }
  const size_t mantissa = std::min(rest.find('e'), rest.size());
  const std::string_view exponent = std::string_view(rest).substr(mantissa);
  const std::string_view number = std::string_view(rest).substr(0, mantissa);
  const bool digits_only = exponent.find_first_not_of("e+-0123456789") == exponent.npos &&
                           number.find_first_not_of("0123456789_.:") == number.npos;
  const bool one_point = std::count(number.begin(), number.end(), '.') < 2;
  const bool begins = !number.empty() && (is_digit(number[0]) || number[0] == '.');
  return begins && digits_only && one_point && number.find_first_of("0123456789") != number.npos;
}

/// Whether YAML 1.1 takes it for a truth and YAML 1.2 or JSON do not.
bool resembles_truth(std::string_view text) {
  static constexpr std::array<std::string_view, 8> kWords = {"yes",  "no",    "on", "off",
                                                             "true", "false", "y",  "n"};
  return std::ranges::count(kWords, lowered(text)) > 0;
}

/// Whether YAML 1.1 takes it for a date, by itself or with a time behind it: 2024-01-01.
bool resembles_date(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00";
  if (text.size() < kForm.size()) return false;
  for (size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == '-' ? text[i] != '-' : !is_digit(text[i])) return false;
  }
  const std::string_view rest = text.substr(kForm.size());
  return rest.empty() || std::string_view("Tt \t").find(rest.front()) != rest.npos;
}

/// Where a file says that it is of another version than 1.2, in front of its content.
std::optional<size_t> other_version(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    if (line.starts_with("%YAML ") && !line.substr(6).starts_with("1.2")) return at;
    if (!line.empty() && line[0] != '#' && line[0] != '%') return std::nullopt;
    at += line.size() + 1;
  }
  return std::nullopt;
}

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  json take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) refuse(mark, "a second document; the file must be one");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(mark, nullptr, anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) refuse(mark, "an alias inside of what it names");
    count_copy(mark, known->second.weight);
    if (stack_.size() + known->second.depth > kMaxDepth) refuse_depth(mark);
    const Anchored copy = known->second;
    add(mark, copy.value, YAML::NullAnchor, copy.weight, copy.depth);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool quoted = tag == "!";
    if (first_ill_formed_utf8(value)) {  // what the library makes of \N and \_
      refuse(mark, "the escapes \\N and \\_ are not read; write \\u0085 or \\u00A0");
    }
    check_tag(mark, tag);
    if (expects_key()) return key(mark, value, quoted, anchor);
    add(mark, quoted ? json(value) : plain(mark, value), anchor, value.size() + 1);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, json::array());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, json::object());
  }
  void OnMapEnd() override { close(); }

 private:
  struct Anchored {
    json value;
    size_t weight = 0;  ///< about the bytes of a copy
    size_t depth = 0;   ///< of containers
  };
  /// A list or an object that is not closed yet.
  struct Open {
    json value;
    YAML::anchor_t anchor;
    std::optional<std::string> key;  ///< its value comes next
    size_t weight = 1;
    size_t depth = 1;
    YAML::Mark mark;
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& message) const {
    throw Refused{data_error(message, place(text_, path_, mark))};
  }

  [[noreturn]] void refuse_depth(const YAML::Mark& mark) const {
    refuse(mark, "nested deeper than " + std::to_string(kMaxDepth) + " levels");
  }

  /// What anchors keep and what aliases put elsewhere is bounded together.
  void count_copy(const YAML::Mark& mark, size_t weight) {
    copied_ += weight;
    if (copied_ <= kMaxYamlBytes) return;
    refuse(mark, "anchors and aliases copy more than " + std::to_string(kMaxYamlBytes) + " bytes");
  }

  bool expects_key() const {
    return !stack_.empty() && stack_.back().value.is_object() && !stack_.back().key;
  }

  static std::string excerpt(const std::string& text) {
    constexpr size_t kLongest = 80;
    if (text.size() <= kLongest) return text;
    return text.substr(0, whole_code_points(text, kLongest)) + "…";
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (tag.empty() || tag == "?" || tag == "!") return;
    refuse(mark, "the tag '" + excerpt(tag) + "'; types are told by how values are written");
  }

  void check_words(const YAML::Mark& mark, const std::string& value) const {
    const auto refuse_as = [&](const std::string& other, const std::string& write) {
      refuse(mark, "'" + excerpt(value) + "' is " + other +
                       " to some readers of YAML and a text to others: write " + write);
    };
    if (resembles_number(value)) {
      refuse_as("a number", "the number as JSON does, or the text in quotes");
    }
    if (resembles_truth(value)) refuse_as("true or false", "true or false, or the text in quotes");
    if (resembles_date(value)) refuse_as("a date", "the text in quotes");
    if (value == "=") refuse_as("a default", "the text in quotes");
  }

  json plain(const YAML::Mark& mark, const std::string& value) const {
    if (value == "true" || value == "false") return value == "true";
    if (is_json_number(value)) {
      Result<json> number = parse_json(value, "");
      if (!number) refuse(mark, number.error().message);
      return *std::move(number);
    }
    check_words(mark, value);
    return value;
  }

  void key(const YAML::Mark& mark, const std::string& name, bool quoted, YAML::anchor_t anchor) {
    if (!quoted) {
      if (name == "<<") refuse(mark, "'<<' (a merge key), which YAML 1.2 does not have");
      if (is_json_number(name)) {
        refuse(mark,
               "the key " + excerpt(name) + " is a number; keys are texts: write it in quotes");
      }
      // A parameter may well be called n.
      if (name.size() > 1) check_words(mark, name);
    }
    if (stack_.back().value.contains(name)) {
      refuse(mark, "the key '" + excerpt(name) + "' occurs twice in one object");
    }
    if (anchor != YAML::NullAnchor) {
      count_copy(mark, name.size() + 1);
      anchors_[anchor] = {name, name.size() + 1, 0};
    }
    stack_.back().key = name;
    stack_.back().weight += name.size() + 1;
  }

  void add(const YAML::Mark& mark, json value, YAML::anchor_t anchor, size_t weight = 1,
           size_t depth = 0) {
    if (anchor != YAML::NullAnchor) {
      count_copy(mark, weight);
      anchors_[anchor] = {value, weight, depth};
    }
    if (stack_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& parent = stack_.back();
    parent.weight += weight;
    parent.depth = std::max(parent.depth, depth + 1);
    if (parent.value.is_array()) {
      parent.value.push_back(std::move(value));
      return;
    }
    if (!parent.key) {  // an alias or nothing in the place of a key
      if (!value.is_string()) refuse(mark, "keys are texts");
      return key(mark, value.get<std::string>(), true, YAML::NullAnchor);
    }
    parent.value[*parent.key] = std::move(value);
    parent.key.reset();
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, json container) {
    check_tag(mark, tag);
    if (expects_key()) refuse(mark, "a list or an object as a key; keys are texts");
    if (stack_.size() >= kMaxDepth) refuse_depth(mark);
    stack_.push_back({std::move(container), anchor, std::nullopt, 1, 1, mark});
  }

  void close() {
    Open done = std::move(stack_.back());
    stack_.pop_back();
    add(done.mark, std::move(done.value), done.anchor, done.weight, done.depth);
  }

  std::string_view text_;
  const std::string& path_;
  int documents_ = 0;
  size_t copied_ = 0;
  json root_;
  std::vector<Open> stack_;
  std::map<YAML::anchor_t, Anchored> anchors_;
};

}  // namespace

Result<json> parse_yaml(std::string_view text, const std::string& path) {
  if (text.size() > kMaxYamlBytes) {
    return data_error("YAML of " + std::to_string(text.size()) + " bytes, allowed are " +
                          std::to_string(kMaxYamlBytes),
                      path);
  }
  if (const auto at = other_version(text)) {
    const auto line =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*at), '\n');
    return data_error("YAML of another version than 1.2; leave the directive out",
                      path + ":" + std::to_string(line + 1) + ":1");
  }
  TextBuffer buffer(text);
  std::istream stream(&buffer);
  TreeBuilder builder(text, path);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refused& refused) {
    return refused.error;
  } catch (const YAML::Exception& broken) {
    return data_error("not valid YAML: " + broken.msg, place(text, path, broken.mark));
  }
  return builder.take();
}

}  // namespace qfs::config
