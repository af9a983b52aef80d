#include "metrics/text/vocabulary.h"

#include <array>
#include <bit>
#include <cstring>

#include "metrics/text/porter_stemmer.h"
#include "metrics/text/token_block.h"
#include "metrics/text/tokens.h"

namespace qfs::metrics {
namespace {

constexpr size_t kLongestUnstemmed = 3;  // rouge_score 0.1.2, tokenize.py
/// A token and a separator are two bytes, and one token may reach in from the block before.
constexpr size_t kBlockTokens = kBlockBytes / 2 + 1;

uint64_t low_bytes(size_t count) { return ~uint64_t{0} >> (64 - 8 * count); }

}  // namespace

TokenId Vocabulary::new_surface(std::string_view token) {
  const bool stemmed = stem_ && token.size() > kLongestUnstemmed;
  return stemmed ? tokens_.id(porter_nltk_stem(token)) : tokens_.id(token);
}

TokenId Vocabulary::id(std::string_view token) {
  if (!token.empty() && token.size() <= ShortWords::kLongest) {
    return short_surfaces_.number(ShortWords::key(token), [&] { return new_surface(token); });
  }
  const uint32_t surface = long_surfaces_.id(token);
  if (surface == token_of_long_.size()) token_of_long_.push_back(new_surface(token));
  return token_of_long_[surface];
}

TokenId Vocabulary::id_at(std::string_view text, size_t offset, size_t length) {
  if (length <= ShortWords::kLongest) {
    uint64_t key = 0;
    const size_t readable = std::min(sizeof(key), text.size() - offset);
    if (readable == sizeof(key)) {
      std::memcpy(&key, text.data() + offset, sizeof(key));
    } else {
      std::memcpy(&key, text.data() + offset, readable);
    }
    // The bit that tells 'A' from 'a' is set in digits already.
    key = (key | 0x2020202020202020) & low_bytes(length);
    return short_surfaces_.number(key, [&] {
      std::array<char, sizeof(key)> token{};
      std::memcpy(token.data(), &key, sizeof(key));
      return new_surface({token.data(), length});
    });
  }
  buffer_.assign(text.substr(offset, length));
  for (char& c : buffer_) c = kTokenCharacters[static_cast<unsigned char>(c)];
  return id(buffer_);
}

void Vocabulary::append(std::string_view text, bool lines, EncodedText& encoded) {
  const size_t tokens_before = encoded.tokens.size();
  const size_t lines_before = encoded.line_ends.size();
  size_t count = tokens_before;
  size_t start = 0;     // of the token at hand
  uint64_t inside = 0;  // 1: the last byte of the block before belongs to a token
  // One byte beyond the end, so that a last token ends as the others do.
  for (size_t base = 0; base <= text.size(); base += kBlockBytes) {
    std::array<char, kBlockBytes> tail{};
    const char* data = text.data() + base;
    if (text.size() - base < kBlockBytes) {
      text.copy(tail.data(), kBlockBytes, base);
      data = tail.data();
    }
    const TokenBlock block = token_block(data);
    if (block.unusual != 0) {
      encoded.tokens.resize(tokens_before);
      encoded.line_ends.resize(lines_before);
      return append_slowly(text, lines, encoded);
    }
    const uint64_t shifted = block.token << 1U | inside;
    uint64_t starts = block.token & ~shifted;
    const uint64_t ends = shifted & ~block.token;
    for (uint64_t left = lines ? block.newline : 0; left != 0; left &= left - 1) {
      const uint64_t up_to = left ^ (left - 1);
      encoded.line_ends.push_back(count + static_cast<size_t>(std::popcount(ends & up_to)));
    }
    encoded.tokens.resize(count + kBlockTokens);
    const auto next_start = [&] {
      start = base + static_cast<size_t>(std::countr_zero(starts));
      starts &= starts - 1;
    };
    if (inside == 0) next_start();
    for (uint64_t left = ends; left != 0; left &= left - 1) {
      const size_t end = base + static_cast<size_t>(std::countr_zero(left));
      encoded.tokens[count++] = id_at(text, start, end - start);
      next_start();
    }
    inside = block.token >> 63U;
  }
  encoded.tokens.resize(count);
}

void Vocabulary::append_slowly(std::string_view text, bool lines, EncodedText& encoded) {
  for (size_t begin = 0;;) {
    const size_t end = lines ? std::min(text.find('\n', begin), text.size()) : text.size();
    for_each_token(text.substr(begin, end - begin), buffer_,
                   [&](std::string_view token) { encoded.tokens.push_back(id(token)); });
    if (end == text.size()) return;
    encoded.line_ends.push_back(encoded.tokens.size());
    begin = end + 1;
  }
}

void Vocabulary::append_line(std::string_view line, EncodedText& encoded) {
  append(line, false, encoded);
  encoded.line_ends.push_back(encoded.tokens.size());
}

void Vocabulary::encode(std::string_view text, EncodedText& encoded) {
  encoded.tokens.clear();
  encoded.line_ends.clear();
  append(text, true, encoded);
  encoded.line_ends.push_back(encoded.tokens.size());
}

EncodedText Vocabulary::encode(std::string_view text) {
  EncodedText encoded;
  encode(text, encoded);
  return encoded;
}

}  // namespace qfs::metrics
