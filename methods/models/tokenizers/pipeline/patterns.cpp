#include <utility>

#include "methods/models/tokenizers/pipeline/pattern.h"

namespace qfs::tokenizers {

namespace {

/// Appends [begin, end) unless it is empty.
void append(std::vector<Match>& out, size_t begin, size_t end, bool matched) {
  if (begin < end) out.push_back({begin, end, matched});
}

class PropertyPattern final : public Pattern {
 public:
  explicit PropertyPattern(bool (*property)(char32_t)) : property_(property) {}
  void find(std::string_view text, std::vector<Match>& out) const override {
    size_t rest = 0;
    for_each_code_point(text, [&](char32_t c, size_t begin, size_t end) {
      if (!property_(c)) return;
      append(out, rest, begin, false);
      out.push_back({begin, end, true});
      rest = end;
    });
    append(out, rest, text.size(), false);
  }

 private:
  bool (*property_)(char32_t);
};

class TextPattern final : public Pattern {
 public:
  explicit TextPattern(std::string text) : text_(std::move(text)) {}
  void find(std::string_view text, std::vector<Match>& out) const override {
    size_t rest = 0;
    while (!text_.empty()) {
      const size_t at = text.find(text_, rest);
      if (at == text.npos) break;
      append(out, rest, at, false);
      out.push_back({at, at + text_.size(), true});
      rest = at + text_.size();
    }
    append(out, rest, text.size(), false);
  }

 private:
  std::string text_;
};

class InvertedPattern final : public Pattern {
 public:
  explicit InvertedPattern(PatternPtr pattern) : pattern_(std::move(pattern)) {}
  void find(std::string_view text, std::vector<Match>& out) const override {
    const size_t first = out.size();
    pattern_->find(text, out);
    for (size_t i = first; i < out.size(); ++i) out[i].matched = !out[i].matched;
  }

 private:
  PatternPtr pattern_;
};

class WordsPattern final : public Pattern {
 public:
  void find(std::string_view text, std::vector<Match>& out) const override {
    enum class Kind { space, word, other };
    size_t begin = 0;
    Kind kind = Kind::space;
    for_each_code_point(text, [&](char32_t c, size_t from, size_t) {
      const Kind next = is_word_character(c) ? Kind::word
                        : is_white_space(c)  ? Kind::space
                                             : Kind::other;
      if (next == kind) return;
      append(out, begin, from, kind != Kind::space);
      begin = from;
      kind = next;
    });
    append(out, begin, text.size(), kind != Kind::space);
  }
};

}  // namespace

PatternPtr make_property_pattern(bool (*property)(char32_t)) {
  return std::make_shared<const PropertyPattern>(property);
}
PatternPtr make_text_pattern(std::string text) {
  return std::make_shared<const TextPattern>(std::move(text));
}
PatternPtr make_inverted_pattern(PatternPtr pattern) {
  return std::make_shared<const InvertedPattern>(std::move(pattern));
}
PatternPtr make_words_pattern() { return std::make_shared<const WordsPattern>(); }

Result<PatternPtr> make_regex_pattern(const std::string& expression) {
  if (PatternPtr known = make_known_pattern(expression)) return known;
  return make_icu_pattern(expression);
}

}  // namespace qfs::tokenizers
