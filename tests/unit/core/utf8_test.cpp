// UTF-8 against Python's decoder: tests/conformance/core/reference_values.py.
#include "harness/core/utf8.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "harness/core/sha256.h"

namespace qfs {
namespace {

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

TEST(RepairUtf8, EqualsPythonOnKnownCases) {
  constexpr std::array<std::array<std::string_view, 2>, 16> kCases = {{
      {"80", "efbfbd"},                          // a lone continuation byte
      {"c3", "efbfbd"},                          // truncated
      {"c328", "efbfbd28"},                      // the next byte stays
      {"c0af", "efbfbdefbfbd"},                  // overlong: no byte of it is a valid start
      {"e28281", "e28281"},                      // well-formed
      {"e282", "efbfbd"},                        // truncated: one replacement for two bytes
      {"e28228", "efbfbd28"},                    // interrupted
      {"eda080", "efbfbdefbfbdefbfbd"},          // a surrogate
      {"f09f9880", "f09f9880"},                  // well-formed
      {"f09f98", "efbfbd"},                      // truncated: one replacement for three bytes
      {"f4908080", "efbfbdefbfbdefbfbdefbfbd"},  // beyond U+10FFFF
      {"fc8080", "efbfbdefbfbdefbfbd"},          // never a lead byte
      {"41f0905a", "41efbfbd5a"},                //
      {"efbbbf41", "efbbbf41"},                  // a byte order mark is text
      {"f0808041", "efbfbdefbfbdefbfbd41"},      // overlong
      {"e0809f", "efbfbdefbfbdefbfbd"},          // overlong
  }};
  for (const auto& [ill_formed, repaired] : kCases) {
    EXPECT_EQ(repair_utf8(from_hex(ill_formed)).text, from_hex(repaired)) << ill_formed;
  }
}

TEST(RepairUtf8, EqualsPythonOnEveryPairOfBytes) {
  Sha256 hash;
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      hash.update(repair_utf8(std::string{static_cast<char>(a), static_cast<char>(b)}).text);
      hash.update("\n");
    }
  }
  EXPECT_EQ(hash.hex(), "1134090a6b3a3c6250eaedbb16529e59c1b1e996f6ac5621407a7f2d1be7371a");
}

TEST(RepairUtf8, EqualsPythonOnFourBytesAroundEveryLimitOfTheTable) {
  const std::string edges = from_hex("00417f80818f909fa0bfc0c1c2dfe0e1ecedeeeff0f1f3f4f5ff");
  Sha256 hash;
  for (const char a : edges) {
    for (const char b : edges) {
      for (const char c : edges) {
        for (const char d : edges) {
          hash.update(repair_utf8(std::string{a, b, c, d}).text).update("\n");
        }
      }
    }
  }
  EXPECT_EQ(hash.hex(), "adeb45c20089cd854d9aa0d2b2dae1ba1da4ae39d229e15e4be6b2c6779f129a");
}

TEST(RepairUtf8, CountsTheBytesItReplaced) {
  EXPECT_EQ(repair_utf8("caf\xC3\xA9").replaced_bytes, 0);
  EXPECT_EQ(repair_utf8("a\xE2\x82z\xFFz").replaced_bytes, 3);
}

TEST(FirstIllFormedUtf8, PointsAtTheFirstByteOfTheSequence) {
  EXPECT_EQ(first_ill_formed_utf8(""), std::nullopt);
  EXPECT_EQ(first_ill_formed_utf8("plain ascii, longer than eight bytes, then 日本語 😀"),
            std::nullopt);
  EXPECT_EQ(first_ill_formed_utf8("0123456789abc\xE2\x82"), 13U);
  EXPECT_EQ(first_ill_formed_utf8("é\x80"), 2U);
}

TEST(WholeCodePoints, NeverCutsInsideACodePoint) {
  const std::string text = "aé日😀";  // 1 + 2 + 3 + 4 bytes
  constexpr std::array<size_t, 12> kExpected = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
  for (size_t limit = 0; limit < kExpected.size(); ++limit) {
    EXPECT_EQ(whole_code_points(text, limit), kExpected[limit]) << limit;
  }
}

TEST(WholeCodePoints, KeepsTheLimitWhereThereIsNoCodePoint) {
  EXPECT_EQ(whole_code_points(std::string(20, '\x80'), 10), 10U);
}

TEST(CountCodePoints, CountsCodePointsNotBytes) { EXPECT_EQ(count_code_points("aé日😀"), 4); }

}  // namespace
}  // namespace qfs
