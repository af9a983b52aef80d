// Compound columns: written and read back without loss; anything else is not guessed at.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "harness/core/rng.h"
#include "harness/store/codec.h"

namespace qfs::store {
namespace {

TEST(Codec, RealsComeBackToTheLastBit) {
  Rng rng(7);
  std::vector<double> values = {0.0, -0.0, 1.0 / 3.0, 5e-324, 1.7976931348623157e308};
  for (int i = 0; i < 1000; ++i) values.push_back(rng.uniform());
  const auto read = decode_reals(encode_reals(values));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), values.size());
  EXPECT_EQ(std::memcmp(read->data(), values.data(), values.size() * sizeof(double)), 0);
}

TEST(Codec, IntegersComeBackAtTheirLimits) {
  const std::vector<int64_t> values = {std::numeric_limits<int64_t>::min(), -1, 0,
                                       std::numeric_limits<int64_t>::max()};
  EXPECT_EQ(decode_integers(encode_integers(values)), values);
  EXPECT_EQ(decode_integers("[]"), std::vector<int64_t>{});
}

TEST(Codec, ForeignNumberListsAreNotGuessedAt) {
  for (const char* const text : {"", "[", "]", "1", "[1", "1]", "[1,]", "[,1]", "[1 ,2]", "[1.5]",
                                 "[9223372036854775808]", "[1][2]", "{}", "[\"1\"]"}) {
    EXPECT_EQ(decode_integers(text), std::nullopt) << text;
  }
  for (const char* const text : {"[nan]", "[inf]", "[1e999]", "[0x1]", "[1,2"}) {
    EXPECT_EQ(decode_reals(text), std::nullopt) << text;
  }
}

TEST(Codec, ALedgerComesBack) {
  const Truncation truncation{100, 40, 7, {{0, 0, 12}, {3, 5, 9}}, false};
  EXPECT_EQ(decode_truncation(encode_truncation(truncation)), truncation);
  EXPECT_EQ(decode_truncation("[1,2,3]"), std::nullopt);
  EXPECT_EQ(decode_truncation("[1,2,3,2]"), std::nullopt) << "query_whole is 0 or 1";
  EXPECT_EQ(decode_truncation("[1,2,3,1,0,0]"), std::nullopt) << "half a span";
}

TEST(Codec, ADocumentComesBackWithAndWithoutSpeakers) {
  const std::vector<Segment> document = {{"a \"quoted\"\nline", "Ann"}, {"", ""}, {"会议", ""}};
  EXPECT_EQ(decode_document(encode_document(document)), document);
  for (const char* const text : {"{}", "[1]", "[[]]", R"([["a","b","c"]])", "[[1]]", "[[\"a\"]"}) {
    EXPECT_EQ(decode_document(text), std::nullopt) << text;
  }
}

TEST(Codec, EvidenceComesBack) {
  const std::vector<SegmentSpan> evidence = {{0, 3}, {9, 9}};
  EXPECT_EQ(decode_evidence(encode_evidence(evidence)), evidence);
  EXPECT_EQ(decode_evidence("[1]"), std::nullopt);
}

TEST(Codec, AManifestWithAMissingMemberIsNotReadable) {
  const std::string text = encode_manifest({});
  EXPECT_TRUE(decode_manifest(text));
  EXPECT_EQ(decode_manifest(R"({"name":"x"})"), std::nullopt);
  EXPECT_EQ(decode_manifest("[]"), std::nullopt);
}

TEST(Codec, EveryPartOfAPredictionChangesItsDigest) {
  Prediction base;
  base.text = "text";
  base.prompt = "prompt";
  base.truncation = Truncation{};
  const std::string digest = output_digest(base, {"t", "p", "[]"});
  std::vector<std::string> others = {
      output_digest(base, {"u", "p", "[]"}), output_digest(base, {"t", "q", "[]"}),
      output_digest(base, {"t", "", "[]"}), output_digest(base, {"t", "p", ""})};
  const auto changed = [&](auto change) {
    Prediction prediction = base;
    change(prediction);
    others.push_back(output_digest(prediction, {"t", "p", "[]"}));
  };
  changed([](Prediction& p) { p.finish = FinishReason::length; });
  changed([](Prediction& p) { p.tokens_in = 1; });
  changed([](Prediction& p) { p.tokens_out = 1; });
  changed([](Prediction& p) { p.repaired_bytes = 1; });
  changed([](Prediction& p) { p.extra = Json{R"({"a":1})"}; });
  changed([](Prediction& p) { p.extra = Json{R"({"a":"observed"})"}; });
  for (const std::string& other : others) EXPECT_NE(other, digest);
}

TEST(Codec, WhatWasObservedDuringTheRunIsNoPartOfTheDigest) {
  const auto digest = [](const char* extra) {
    Prediction prediction;
    prediction.extra = Json{extra};
    return output_digest(prediction, {"t", "", ""});
  };
  EXPECT_EQ(digest(R"({"a":1,"observed":{"ms":3}})"), digest(R"({"a":1})"));
  EXPECT_NE(digest(R"({"a":2,"observed":{"ms":3}})"), digest(R"({"a":1,"observed":{"ms":3}})"));
  EXPECT_NE(digest(R"({"a":{"observed":3}})"), digest(R"({"a":{}})"));
}

}  // namespace
}  // namespace qfs::store
