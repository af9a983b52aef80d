#include "methods/models/tokenizers/builtin_tokenizers.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "harness/core/sha256.h"
#include "harness/core/utf8.h"

namespace qfs::tokenizers {

namespace {

/// Calls `visit(code_point, begin, end)` for every code point.
template <class Visit>
void for_each_code_point(std::string_view text, Visit visit) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const auto size = static_cast<int64_t>(text.size());
  int64_t position = 0;
  while (position < size) {
    const int64_t begin = position;
    UChar32 code_point = 0;
    U8_NEXT(bytes, position, size, code_point);
    visit(code_point, begin, position);
  }
}

class Words final : public Tokenizer {
 public:
  std::vector<Token> encode(std::string_view text) const override {
    std::vector<Token> tokens;
    bool inside = false;
    for_each_code_point(text, [&](UChar32 code_point, int64_t begin, int64_t end) {
      const bool space = u_isUWhiteSpace(code_point) != 0;
      if (!space && !inside) tokens.push_back({-1, begin, end});
      if (!space && inside) tokens.back().end = end;
      inside = !space;
    });
    return tokens;
  }
};

class Characters final : public Tokenizer {
 public:
  std::vector<Token> encode(std::string_view text) const override {
    std::vector<Token> tokens;
    tokens.reserve(text.size());
    for_each_code_point(text, [&](UChar32, int64_t begin, int64_t end) {
      tokens.push_back({-1, begin, end});
    });
    return tokens;
  }

  int64_t count(std::string_view text) const override { return count_code_points(text); }
};

}  // namespace

std::shared_ptr<const Tokenizer> make_builtin_tokenizer(std::string_view name) {
  if (name == "words") return std::make_shared<const Words>();
  if (name == "characters") return std::make_shared<const Characters>();
  return nullptr;
}

std::optional<Resource> builtin_tokenizer(std::string_view name) {
  if (name != "words" && name != "characters") return std::nullopt;
  // The number is the version of the splitting rule.
  return Resource{std::string(name), "", sha256_hex("qfs tokenizer " + std::string(name) + "@1")};
}

}  // namespace qfs::tokenizers
