#include <utility>

#include "methods/models/tokenizers/bpe/byte_alphabet.h"
#include "methods/models/tokenizers/pipeline/lower_case.h"
#include "methods/models/tokenizers/pipeline/normalizer.h"

namespace qfs::tokenizers {

namespace {

class Lowercase final : public Normalizer {
 public:
  void apply(AlignedText& text) const override { lower_case(text); }
};

class StripAccents final : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    text.filter([](char32_t c) { return !is_combining_mark(c); });
  }
};

class Replace final : public Normalizer {
 public:
  Replace(PatternPtr pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void apply(AlignedText& text) const override {
    std::vector<Match> matches;
    pattern_->find(text.text(), matches);
    text.replace(matches, content_);
  }

 private:
  PatternPtr pattern_;
  std::string content_;
};

class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string content) : content_(std::move(content)) {}
  void apply(AlignedText& text) const override { text.prepend(content_); }

 private:
  std::string content_;
};

class Strip final : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}
  void apply(AlignedText& text) const override {
    size_t begin = std::string_view::npos;
    size_t end = 0;
    for_each_code_point(text.text(), [&](char32_t c, size_t from, size_t to) {
      if (is_white_space(c)) return;
      if (begin == std::string_view::npos) begin = from;
      end = to;
    });
    const size_t size = text.text().size();
    if (begin == std::string_view::npos) return left_ || right_ ? text.trim(0, 0) : void();
    text.trim(left_ ? begin : 0, right_ ? end : size);
  }

 private:
  bool left_;
  bool right_;
};

/// SentencePiece's "nmt" rules: control characters go, kinds of white space become spaces.
class Nmt final : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    text.filter([](char32_t c) {
      return !((c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F ||
               c == 0x8F || c == 0x9F);
    });
    std::vector<Change> changes;
    bool any = false;
    for_each_code_point(text.text(), [&](char32_t c, size_t, size_t) {
      const bool space = c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
                         (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 ||
                         c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
      any = any || space;
      changes.push_back({space ? U' ' : c, 0});
    });
    if (any) text.transform(changes);
  }
};

class ByteLevelNormalizer final : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    std::vector<Change> changes;
    for_each_code_point(text.text(), [&](char32_t, size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const std::string character = alphabet_character(static_cast<uint8_t>(text.text()[i]));
        size_t position = 0;
        changes.push_back({next_code_point(character, position), i > begin ? 1 : 0});
      }
    });
    text.transform(changes);
  }
};

class NormalizerSequence final : public Normalizer {
 public:
  explicit NormalizerSequence(std::vector<NormalizerPtr> parts) : parts_(std::move(parts)) {}
  void apply(AlignedText& text) const override {
    for (const NormalizerPtr& part : parts_) part->apply(text);
  }

 private:
  std::vector<NormalizerPtr> parts_;
};

}  // namespace

NormalizerPtr make_lowercase() { return std::make_shared<const Lowercase>(); }
NormalizerPtr make_strip_accents() { return std::make_shared<const StripAccents>(); }
NormalizerPtr make_replace(PatternPtr pattern, std::string content) {
  return std::make_shared<const Replace>(std::move(pattern), std::move(content));
}
NormalizerPtr make_prepend(std::string content) {
  return std::make_shared<const Prepend>(std::move(content));
}
NormalizerPtr make_strip(bool left, bool right) {
  return std::make_shared<const Strip>(left, right);
}
NormalizerPtr make_nmt() { return std::make_shared<const Nmt>(); }
NormalizerPtr make_byte_level_normalizer() { return std::make_shared<const ByteLevelNormalizer>(); }
NormalizerPtr make_normalizer_sequence(std::vector<NormalizerPtr> parts) {
  return std::make_shared<const NormalizerSequence>(std::move(parts));
}

}  // namespace qfs::tokenizers
