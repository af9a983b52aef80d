// read_punkt_module: the tables of Punkt out of Python literals, without Python.
//
// Only what such a file consists of is understood: NAME = frozenset((…)), NAME = {…} with strings,
// whole numbers, tuples of two strings. Other assignments are passed over.
#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "harness/core/text/unicode.h"
#include "metrics/punkt/punkt_tables.h"

namespace qfs::metrics {
namespace {

constexpr size_t kMaxDepth = 8;

struct Literal {
  bool is_text = true;
  std::string text;
  int number = 0;
};

class ModuleReader {
 public:
  ModuleReader(std::string_view source, const std::string& name) : source_(source), name_(name) {}

  /// The strings and numbers of `variable`'s value, in order, brackets left out.
  Result<std::vector<Literal>> values_of(std::string_view variable) {
    if (Status found = find(variable); !found) return found.error();
    std::vector<Literal> values;
    std::string open;
    do {
      skip_space();
      const char c = at_ < source_.size() ? source_[at_] : '\0';
      if (c == '\'' || c == '"') {
        std::optional<std::string> text = string(c);
        if (!text) return fault("a string that ends in its line expected");
        values.push_back({.is_text = true, .text = *std::move(text)});
        continue;
      }
      if (c >= '0' && c <= '9') {
        Literal literal{.is_text = false, .text = {}};
        const char* const begin = source_.data() + at_;
        const auto [stop, error] =
            std::from_chars(begin, source_.data() + source_.size(), literal.number);
        if (error != std::errc()) return fault("a smaller number expected");
        at_ += static_cast<size_t>(stop - begin);
        values.push_back(std::move(literal));
        continue;
      }
      ++at_;
      if (c == '(' || c == '{' || c == '[') {
        if (open.size() == kMaxDepth) return fault("fewer brackets expected");
        open.push_back(c == '(' ? ')' : c == '{' ? '}' : ']');
      } else if (!open.empty() && c == open.back()) {
        open.pop_back();
      } else if (open.empty() || (c != ',' && c != ':')) {
        return fault("a literal expected");
      }
    } while (!open.empty());
    return values;
  }

  Error fault(const std::string& message) const {
    const size_t end = std::min(at_, source_.size());
    const auto line = 1 + std::ranges::count(source_.substr(0, end), '\n');
    return data_error("not a table of Punkt: " + message, name_ + ":" + std::to_string(line));
  }

 private:
  /// Moves behind "variable = ", and behind "frozenset" or "set" if that follows.
  Status find(std::string_view variable) {
    const std::string assignment = "\n" + std::string(variable) + " = ";
    const size_t found = source_.find(assignment);
    if (found == std::string_view::npos) {
      return data_error(
          "not a module with the data of Punkt: it has no line '" + std::string(variable) + " = …'",
          name_);
    }
    at_ = found + assignment.size();
    for (std::string_view call : {"frozenset", "set"}) {
      if (!source_.substr(at_).starts_with(call)) continue;
      at_ += call.size();
      break;
    }
    return {};
  }

  void skip_space() { at_ = std::min(source_.find_first_not_of(" \t\r\n", at_), source_.size()); }

  /// The string that starts here with `quote`; nothing when it is not closed in its line or has an
  /// escape that these files do not use.
  std::optional<std::string> string(char quote) {
    std::string text;
    for (++at_; at_ < source_.size() && source_[at_] != '\n'; ++at_) {
      const char c = source_[at_];
      if (c == quote) {
        ++at_;
        return text;
      }
      if (c != '\\') {
        text += c;
        continue;
      }
      if (!append_escape(text)) return std::nullopt;
    }
    return std::nullopt;
  }

  /// At the backslash; ends at the last character of the escape.
  bool append_escape(std::string& text) {
    const char kind = at_ + 1 < source_.size() ? source_[at_ + 1] : '\0';
    if (kind == '\\' || kind == '\'' || kind == '"') {
      text += kind;
      ++at_;
      return true;
    }
    const size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    const std::string_view hex = source_.substr(std::min(at_ + 2, source_.size()), digits);
    uint32_t value = 0;
    const auto [stop, error] = std::from_chars(hex.data(), hex.data() + hex.size(), value, 16);
    if (digits == 0 || hex.size() != digits || error != std::errc() ||
        stop != hex.data() + hex.size()) {
      return false;
    }
    if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return false;
    append_utf8(static_cast<char32_t>(value), text);
    at_ += 1 + digits;
    return true;
  }

  std::string_view source_;
  const std::string& name_;
  size_t at_ = 0;
};

Status read_texts(ModuleReader& reader, std::string_view variable, std::set<std::string>& into) {
  Result<std::vector<Literal>> values = reader.values_of(variable);
  if (!values) return values.error();
  for (Literal& value : *values) {
    if (!value.is_text) return reader.fault(std::string(variable) + " holds a number");
    into.insert(std::move(value.text));
  }
  return {};
}

}  // namespace

Result<PunktTables> read_punkt_module(std::string_view source, const std::string& name) {
  ModuleReader reader(source, name);
  PunktTables tables;
  if (Status read = read_texts(reader, "ABBREV_TYPES", tables.abbreviations); !read) {
    return read.error();
  }
  if (Status read = read_texts(reader, "SENT_STARTERS", tables.sentence_starters); !read) {
    return read.error();
  }
  Result<std::vector<Literal>> pairs = reader.values_of("COLLOCATIONS");
  if (!pairs) return pairs.error();
  for (size_t i = 0; i < pairs->size(); i += 2) {
    if (i + 1 == pairs->size() || !(*pairs)[i].is_text || !(*pairs)[i + 1].is_text) {
      return reader.fault("COLLOCATIONS are pairs of strings");
    }
    tables.collocations.emplace((*pairs)[i].text, (*pairs)[i + 1].text);
  }
  Result<std::vector<Literal>> seen = reader.values_of("ORTHO_CONTEXT");
  if (!seen) return seen.error();
  for (size_t i = 0; i < seen->size(); i += 2) {
    if (i + 1 == seen->size() || !(*seen)[i].is_text || (*seen)[i + 1].is_text ||
        (*seen)[i + 1].number > kMaxContexts) {
      return reader.fault("ORTHO_CONTEXT maps strings to numbers from 0 to 126");
    }
    tables.orthography.insert_or_assign((*seen)[i].text, (*seen)[i + 1].number);
  }
  return tables;
}

}  // namespace qfs::metrics
