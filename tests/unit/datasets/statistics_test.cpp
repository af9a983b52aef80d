// Statistics of data sets, on one small enough to count by hand.
#include "datasets/statistics.h"

#include <gtest/gtest.h>

namespace qfs::datasets {
namespace {

Example example(const std::string& document, const std::string& reference) {
  Example example;
  example.document_id = document;
  example.document = {{"We met.", "Ann"}, {"Why so late?", "Bob"}, {"No idea.", "Ann"}};
  if (document == "b") example.document = {{"One word more.", ""}};
  example.query = "What?";
  example.references = {reference};
  return example;
}

double value(std::string_view name, const std::vector<std::shared_ptr<const Dataset>>& splits) {
  const Result<double> result = statistic(name, splits);
  EXPECT_TRUE(result.ok()) << name;
  return result.ok() ? *result : -1;
}

TEST(Statistics, AreOverDocumentsExamplesOrReferences) {
  auto test = std::make_shared<Dataset>();
  test->examples = {example("a", "two words"), example("a", "these are four words"),
                    example("b", "one")};
  auto train = std::make_shared<Dataset>();  // its document 'a' is another one
  train->examples = {example("a", "one")};
  const std::vector<std::shared_ptr<const Dataset>> splits = {test, train};
  EXPECT_EQ(value("documents", splits), 3);
  EXPECT_EQ(value("examples", splits), 4);
  EXPECT_DOUBLE_EQ(value("segments", splits), (3 + 1 + 3) / 3.0);
  EXPECT_DOUBLE_EQ(value("document_words_without_speakers", splits), (7 + 3 + 7) / 3.0);
  EXPECT_DOUBLE_EQ(value("document_words", splits), (10 + 3 + 10) / 3.0);
  EXPECT_DOUBLE_EQ(value("reference_words", splits), (2 + 4 + 1 + 1) / 4.0);
  EXPECT_DOUBLE_EQ(value("speakers", splits), (2 + 0 + 2) / 3.0);
  EXPECT_DOUBLE_EQ(value("queries_per_document", splits), 4 / 3.0);
}

TEST(Statistics, NameTheNearestOne) {
  const Result<double> unknown = statistic("document", {});
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("documents"), std::string::npos);
}

}  // namespace
}  // namespace qfs::datasets
