// The host's loop with a metric: opening by kind, texts before pairs, errors that close the
// session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/core/error_exception.h"
#include "tests/support/served_host.h"

namespace qfs::host {
namespace {

using ::testing::HasSubstr;

/// Scores a pair by the lengths of its texts.
class Lengths final : public MetricSession {
 public:
  std::vector<std::string> columns() const override { return {"candidate", "references"}; }
  void begin_corpus() override { texts_.clear(); }
  Result<AddedTexts> add_texts(std::span<const CorpusText> texts) override {
    AddedTexts added;
    for (size_t i = 0; i < texts.size(); ++i) {
      if (texts[i].text == "bad") return data_error("a bad text");
      if (texts[i].text.empty()) added.empty.push_back(static_cast<int64_t>(i));
      texts_.push_back(texts[i]);
    }
    return added;
  }
  Result<std::vector<Statistics>> score(std::span<const TextPairs> items) override {
    std::vector<Statistics> rows;
    for (const TextPairs& item : items) {
      if (item.candidate == 99) throw ErrorException(data_error("no such text", "texts"));
      Statistics row = {length(item.candidate), 0};
      for (const int64_t reference : item.references) row[1] += length(reference);
      rows.push_back(row);
    }
    return rows;
  }

 private:
  double length(int64_t number) const {
    return static_cast<double>(texts_.at(static_cast<size_t>(number)).text.size());
  }
  std::vector<CorpusText> texts_;
};

Result<std::unique_ptr<MetricSession>> open_lengths(const SessionRequest&, ResourceCache&) {
  return std::unique_ptr<MetricSession>(std::make_unique<Lengths>());
}

const MetricSessionFactory kMetrics[] = {{"lengths", open_lengths}};

class MetricHost : public test::ServedHost {
 protected:
  MetricHost() : ServedHost({.sessions = {}, .metrics = kMetrics}) {}
  static OpenRequest opening(const std::string& name) {
    return ServedHost::opening(name, SessionKind::metric);
  }
};

TEST_F(MetricHost, TextsThenPairsGiveOneScoreAnItem) {
  EXPECT_TRUE(std::holds_alternative<OpenedReply>(ask(opening("lengths")).body));
  const Reply texts = ask(TextsRequest{true, {{"one", 0}, {"", 1}, {"three", 2}}});
  EXPECT_EQ(std::get<TextsReply>(texts.body).added, (AddedTexts{{}, {1}}));
  const Reply first = ask(PairsRequest{{{5, 0, {2, 2}}, {6, 2, {1}}}});
  EXPECT_EQ(std::get<ScoreReply>(first.body).ordinal, 5);
  EXPECT_EQ(std::get<ScoreReply>(first.body).values.at("references"), 10);
  EXPECT_EQ(std::get<ScoreReply>(next().body).values.at("candidate"), 5);
  EXPECT_TRUE(std::holds_alternative<DoneReply>(next().body));
}

TEST_F(MetricHost, AnErrorClosesTheSessionAndTheHostTakesAnother) {
  EXPECT_THAT(failure(ask(opening("length"))), HasSubstr("did you mean 'lengths'"));
  EXPECT_THAT(failure(ask(TextsRequest{true, {{"a", 0}}})), HasSubstr("without an open metric"));
  EXPECT_THAT(failure(ask(PairsRequest{})), HasSubstr("without an open metric"));
  ask(opening("lengths"));
  EXPECT_EQ(failure(ask(TextsRequest{true, {{"bad", 0}}})), "a bad text");
  EXPECT_THAT(failure(ask(PairsRequest{})), HasSubstr("without an open metric"));
  ask(opening("lengths"));
  EXPECT_THAT(failure(ask(PairsRequest{{{0, 9, {}}}})), HasSubstr("unexpected exception"));
  ask(opening("lengths"));
  const Reply thrown = ask(PairsRequest{{{0, 99, {}}}});
  EXPECT_EQ(std::get<ErrorReply>(thrown.body).error, data_error("no such text", "texts"));
  OpenRequest method = opening("lengths");
  method.kind = SessionKind::method;
  EXPECT_THAT(failure(ask(method)), HasSubstr("no method 'lengths'"));
}

}  // namespace
}  // namespace qfs::host
