// Which passages stand for a document, and what the ledger says of the document as it was.
#include "methods/retrieve_generate/retriever.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/models/tokenizers/folders/open_tokenizer.h"

namespace qfs::retrieve_generate {
namespace {

using retrieval::PassageUnit;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Wants passages in a given order, and counts the documents that it saw.
class Ordered final : public retrieval::Selector {
 public:
  Ordered(std::vector<size_t> order, int& documents)
      : order_(std::move(order)), documents_(documents) {}
  Status prepare(std::span<const retrieval::Passage>, retrieval::Script) override {
    ++documents_;
    return {};
  }
  Result<std::vector<size_t>> select(const Example&) override { return order_; }

 private:
  std::vector<size_t> order_;
  int& documents_;
};

std::shared_ptr<const tokenizers::Tokenizer> words() {
  return *tokenizers::open_tokenizer({"words", "", ""});
}

class RetrieverTest : public ::testing::Test {
 protected:
  RetrieverTest() {
    example_.key = "e";
    example_.language = "en";
    example_.document = {
        {"One two. Three four five.  Six.", "ann"}, {"Seven eight.", ""}, {"Nine. Ten.", "bob"}};
  }
  Retriever retriever(int64_t budget, std::vector<size_t> order,
                      PassageUnit unit = PassageUnit::sentence) {
    return {Reach{unit, budget}, words(), std::make_unique<Ordered>(std::move(order), documents_)};
  }
  Result<prompting::ChangedDocument> retrieved(int64_t budget, std::vector<size_t> order,
                                               PassageUnit unit = PassageUnit::sentence) {
    return retriever(budget, std::move(order), unit).retrieve(example_);
  }
  static std::vector<std::string> texts(const prompting::ChangedDocument& changed) {
    std::vector<std::string> list;
    for (const Segment& segment : changed.example.document) list.push_back(rendered(segment));
    return list;
  }

  Example example_;
  int documents_ = 0;
};

TEST_F(RetrieverTest, passages_are_taken_by_rank_and_stand_in_document_order) {
  // Sentences: "One two." "Three four five." "Six." "Seven eight." "Nine." "Ten."; names count.
  const auto changed = retrieved(6, {4, 3, 2, 0});
  ASSERT_TRUE(changed.ok());
  EXPECT_THAT(texts(*changed), ElementsAre("ann: Six.", "Seven eight.", "bob: Nine."));
  EXPECT_THAT(changed->origins,
              ElementsAre(ByteSpan{0, 32, 36}, ByteSpan{1, 0, 12}, ByteSpan{2, 0, 10}));
}

TEST_F(RetrieverTest, the_first_passage_over_the_budget_ends_it_and_the_best_is_always_there) {
  EXPECT_THAT(texts(*retrieved(5, {3, 1, 4})), ElementsAre("Seven eight."));
  EXPECT_THAT(texts(*retrieved(1, {1, 3})), ElementsAre("ann: Three four five."));
}

TEST_F(RetrieverTest, neighbours_of_a_turn_are_one_passage) {
  const auto changed = retrieved(50, {1, 0, 5});
  EXPECT_THAT(texts(*changed), ElementsAre("ann: One two. Three four five.", "bob: Ten."));
  EXPECT_THAT(changed->origins, ElementsAre(ByteSpan{0, 0, 30}, ByteSpan{2, 11, 15}));
  EXPECT_THAT(texts(*retrieved(50, {2, 0}, PassageUnit::turn)),
              ElementsAre("ann: One two. Three four five.  Six.", "bob: Nine. Ten."));
}

TEST_F(RetrieverTest, a_document_is_read_once_for_the_queries_that_follow_one_another) {
  Retriever one = retriever(9, {0});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(one.retrieve(example_).ok());
  EXPECT_EQ(documents_, 1);
  example_.document.front().text = "Other.";
  ASSERT_TRUE(one.retrieve(example_).ok());
  EXPECT_EQ(documents_, 2);
}

TEST_F(RetrieverTest, a_document_without_passages_is_an_error) {
  example_.document = {{"...", "ann"}};
  const auto changed = retrieved(9, {});
  ASSERT_FALSE(changed.ok());
  EXPECT_THAT(changed.error().to_string(), HasSubstr("example 'e' has no passage"));
  example_.document = {{" \n", "ann"}, {"", "bob"}};
  EXPECT_FALSE(retrieved(9, {0}, PassageUnit::turn).ok());
}

TEST_F(RetrieverTest, ledgers_are_of_the_document_as_it_was) {
  const auto changed = retrieved(50, {1, 2, 3, 4});
  EXPECT_THAT(texts(*changed),
              ElementsAre("ann: Three four five.  Six.", "Seven eight.", "bob: Nine."));
  example_.query = "a b";
  Truncation read;
  read.kept = {{0, 0, 21}, {1, 0, 12}, {2, 0, 3}};
  const Truncation ledger = prompting::ledger_of_original(read, *changed, example_, *words());
  EXPECT_THAT(ledger.kept, ElementsAre(ByteSpan{0, 14, 30}, ByteSpan{1, 0, 12}, ByteSpan{2, 0, 3}));
  EXPECT_EQ(ledger.document_tokens, 7 + 2 + 3);
  EXPECT_EQ(ledger.kept_tokens, 3 + 2 + 1);
  EXPECT_EQ(ledger.query_tokens, 2);
}

TEST(LedgerOfOriginal, of_words_that_the_document_does_not_have) {
  Example original;
  original.document = {{"one two", ""}};
  prompting::ChangedDocument changed{original, {std::nullopt, ByteSpan{0, 0, 7}}};
  changed.example.document = {{"key words", ""}, {"one two", ""}};
  Truncation read;
  read.kept = {{0, 0, 9}, {1, 0, 3}};
  const Truncation ledger = prompting::ledger_of_original(read, changed, original, *words());
  EXPECT_THAT(ledger.kept, ElementsAre(ByteSpan{0, 0, 3}));
  EXPECT_EQ(ledger.kept_tokens, 1);
}

}  // namespace
}  // namespace qfs::retrieve_generate
