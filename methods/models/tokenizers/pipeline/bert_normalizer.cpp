#include <algorithm>
#include <utility>

#include "methods/models/tokenizers/pipeline/lower_case.h"
#include "methods/models/tokenizers/pipeline/normalizer.h"

namespace qfs::tokenizers {

namespace {

class BertNormalizer final : public Normalizer {
 public:
  explicit BertNormalizer(const BertNormalizerOptions& options) : options_(options) {}

  void apply(AlignedText& text) const override {
    const bool ascii = is_ascii(text.text());
    if (options_.clean_text) clean(text);
    if (!ascii && options_.handle_chinese_chars) separate_chinese(text);
    if (!ascii && options_.strip_accents) {
      decompose(text);
      text.filter([](char32_t c) { return !is_nonspacing_mark(c); });
    }
    if (options_.lowercase) lower_case(text);
  }

 private:
  static void clean(AlignedText& text) {
    text.filter([](char32_t c) { return c != 0 && c != 0xFFFD && !is_bert_control(c); });
    const std::string_view old = text.text();
    if (is_ascii(old)) {
      const auto other_space = [](char c) { return c >= '\t' && c <= '\r'; };
      if (std::none_of(old.begin(), old.end(), other_space)) return;
      for (char& c : text.bytes_in_place()) {
        if (other_space(c)) c = ' ';
      }
      return;
    }
    std::vector<Change> changes;
    changes.reserve(old.size());
    bool any = false;
    for_each_code_point(old, [&](char32_t c, size_t, size_t) {
      const char32_t clean = is_white_space(c) ? U' ' : c;
      any = any || clean != c;
      changes.push_back({clean, 0});
    });
    if (any) text.transform(changes);
  }

  static void separate_chinese(AlignedText& text) {
    std::vector<Change> changes;
    bool any = false;
    for_each_code_point(text.text(), [&](char32_t c, size_t, size_t) {
      if (!is_chinese(c)) {
        changes.push_back({c, 0});
        return;
      }
      any = true;
      changes.insert(changes.end(), {{U' ', 0}, {c, 1}, {U' ', 1}});
    });
    if (any) text.transform(changes);
  }

  BertNormalizerOptions options_;
};

}  // namespace

NormalizerPtr make_bert_normalizer(const BertNormalizerOptions& options) {
  return std::make_shared<const BertNormalizer>(options);
}

}  // namespace qfs::tokenizers
