// Which changes make other example hashes and another dataset_id, and which do not.
#include "datasets/identity.h"

#include <gtest/gtest.h>

#include "harness/core/sha256.h"

namespace qfs::datasets {
namespace {

Dataset small_set() {
  Dataset dataset;
  dataset.manifest.name = "small";
  dataset.manifest.reader = "test@1";
  dataset.manifest.split = "test";
  dataset.manifest.view = "whole";
  dataset.manifest.text_form = "raw@1";
  dataset.manifest.files = {{"a.json", sha256_hex("bytes"), 5}};
  Example example;
  example.key = "k";
  example.document = {{"text", "Speaker"}};
  example.query = "why?";
  example.references = {"because"};
  dataset.examples = {example};
  return dataset;
}

DatasetId id_of(Dataset dataset, const std::map<std::string, std::string>& fields = {}) {
  EXPECT_TRUE(seal(dataset, fields).ok());
  return dataset.id;
}

TEST(DocumentDigest, IsSha256OverSizedSpeakersAndTexts) {
  std::vector<Segment> document = {{"text", "Sp"}, {"", ""}};
  EXPECT_EQ(document_digest(document), sha256_hex("2:Sp4:text0:0:"));
}

TEST(DocumentDigest, BordersBetweenSpeakerTextAndSegmentsCount) {
  EXPECT_NE(document_digest(std::vector<Segment>{{"ab", "c"}}),
            document_digest(std::vector<Segment>{{"b", "ca"}}));
  EXPECT_NE(document_digest(std::vector<Segment>{{"a", ""}, {"b", ""}}),
            document_digest(std::vector<Segment>{{"ab", ""}}));
}

TEST(ExampleHash, IsSha256OverCanonicalJsonOfThePartsHashes) {
  Dataset dataset = small_set();
  ASSERT_TRUE(seal(dataset).ok());
  std::string canonical = R"({"document":")" + sha256_hex("7:Speaker4:text") + R"(","query":")" +
                          sha256_hex("why?") + R"(","references":[")" + sha256_hex("because") +
                          R"("]})";
  ASSERT_EQ(dataset.example_hashes.size(), 1u);
  EXPECT_EQ(dataset.example_hashes[0], sha256_hex(canonical));
}

TEST(ExampleHash, TextsAreHashedAsRawBytesWithoutNormalisation) {
  Dataset composed = small_set();
  Dataset decomposed = small_set();
  composed.examples[0].query = "caf\u00e9";
  decomposed.examples[0].query = "cafe\u0301";
  ASSERT_TRUE(seal(composed).ok());
  ASSERT_TRUE(seal(decomposed).ok());
  EXPECT_NE(composed.example_hashes, decomposed.example_hashes);
}

TEST(DatasetId, ChangesWithEveryPartOfTheDescription) {
  const DatasetId base = id_of(small_set());
  Dataset changed = small_set();
  changed.manifest.reader = "test@2";
  EXPECT_NE(id_of(changed), base);
  changed = small_set();
  changed.manifest.split = "val";
  EXPECT_NE(id_of(changed), base);
  changed = small_set();
  changed.manifest.view = "golden";
  EXPECT_NE(id_of(changed), base);
  changed = small_set();
  changed.manifest.text_form = "ideal@1";
  EXPECT_NE(id_of(changed), base);
  changed = small_set();
  changed.manifest.files[0].sha256 = sha256_hex("other bytes");
  EXPECT_NE(id_of(changed), base);
  changed = small_set();
  changed.examples[0].references.push_back("two");
  EXPECT_NE(id_of(changed), base);
  EXPECT_NE(id_of(small_set(), {{"language", "=zh"}}), base);
}

TEST(DatasetId, NamesAndPlacesDoNotEnter) {
  Dataset renamed = small_set();
  renamed.manifest.name = "other";
  renamed.manifest.source = "elsewhere";
  renamed.manifest.files[0].name = "b.json";
  EXPECT_EQ(id_of(renamed), id_of(small_set()));
}

TEST(DatasetId, OrderOfExamplesCounts) {
  Dataset forward = small_set();
  forward.examples.push_back(forward.examples[0]);
  forward.examples[1].query = "how?";
  Dataset backward = forward;
  std::swap(backward.examples[0], backward.examples[1]);
  EXPECT_NE(id_of(forward), id_of(backward));
}

}  // namespace
}  // namespace qfs::datasets
