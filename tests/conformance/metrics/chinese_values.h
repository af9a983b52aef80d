// Reading what make_chinese_expected.py wrote, and the digests of words and rows it is compared by.
//
// Called by the conformance tests of the Chinese segmenters and the set-based profiles.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "metrics/chinese/jieba_segmenter.h"
#include "tests/conformance/metrics/expected_values.h"

namespace qfs::test {

inline constexpr size_t kBlock = 100;
inline constexpr size_t kShortDigest = 16;

inline std::string short_sha(std::string_view bytes) {
  return sha256_hex(bytes).substr(0, kShortDigest);
}

/// As words_digest of the script: words end in U+001F but the last, texts in U+001E.
template <class Cut>
std::string words_digest(std::span<const std::string> texts, Cut&& cut,
                         size_t* words_seen = nullptr) {
  std::string joined;
  std::vector<std::string_view> words;
  for (const std::string& text : texts) {
    words.clear();
    cut(text, words);
    if (words_seen != nullptr) *words_seen += words.size();
    for (size_t i = 0; i < words.size(); ++i) {
      if (i > 0) joined += '\x1f';
      joined += words[i];
    }
    joined += '\x1e';
  }
  return short_sha(joined);
}

/// Compares block after block, so that a difference names a hundred texts.
template <class Cut>
void expect_equal_words(const std::vector<std::string>& texts, const nlohmann::json& digests,
                        Cut&& cut) {
  ASSERT_EQ(digests.size(), (texts.size() + kBlock - 1) / kBlock);
  for (size_t block = 0; block < digests.size(); ++block) {
    const size_t begin = block * kBlock;
    const auto part = std::span(texts).subspan(begin, std::min(kBlock, texts.size() - begin));
    EXPECT_EQ(words_digest(part, cut), digests[block].get<std::string>()) << "texts from " << begin;
  }
}

inline void expect_equal_rows(const std::vector<Row>& rows, const nlohmann::json& digests) {
  ASSERT_EQ(digests.size(), (rows.size() + kBlock - 1) / kBlock);
  for (size_t block = 0; block < digests.size(); ++block) {
    const size_t begin = block * kBlock;
    const size_t end = std::min(begin + kBlock, rows.size());
    EXPECT_EQ(digest(rows, begin, end).substr(0, kShortDigest), digests[block].get<std::string>())
        << "rows from " << begin;
  }
}

}  // namespace qfs::test

// Ends a test as skipped when jieba is not on this machine, saying how to get it.
#define QFS_SKIP_WITHOUT_JIEBA(files) \
  if (!(files).ok()) GTEST_SKIP() << "jieba absent: " << (files).error().to_string()
