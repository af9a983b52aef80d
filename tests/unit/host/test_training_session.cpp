// The host's loop with a training: examples arrive in parts, the curve is streamed, files end it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/served_host.h"

namespace qfs::host {
namespace {

using ::testing::HasSubstr;

/// Says how many examples it has, a point each, and refuses the folder "bad".
class Counting final : public TrainingSession {
 public:
  Result<TrainingOutcome> fit(const FitRequest& request, const TrainingData& data,
                              TrainingProgress& progress) override {
    if (request.folder == "bad") return data_error("cannot be learnt from");
    const auto steps = static_cast<int64_t>(data.train.size());
    for (int64_t step = 1; step <= steps; ++step) {
      const double loss = request.folder == "nan" ? std::numeric_limits<double>::quiet_NaN()
                                                  : static_cast<double>(steps - step);
      const double chosen = static_cast<double>(data.development.size());
      const TrainingPoint point{step, steps, {{"loss", loss}, {"development.examples", chosen}}};
      if (Status sent = progress.point(point); !sent) return sent.error();
    }
    return TrainingOutcome{{{"adapter", "a", std::string(64, 'a'), 1}}, {.steps = steps}};
  }
};

Result<std::unique_ptr<TrainingSession>> open_counting(const SessionRequest&, ResourceCache&) {
  return std::unique_ptr<TrainingSession>(std::make_unique<Counting>());
}

const SessionFactory kMethods[] = {{"counting", nullptr, open_counting},
                                   {"plain", nullptr, nullptr}};

class TrainingHost : public test::ServedHost {
 protected:
  TrainingHost() : ServedHost({.sessions = kMethods}) {}
  Reply open(const std::string& name = "counting") {
    return ask(opening(name, SessionKind::training));
  }
};

TEST_F(TrainingHost, PartsAddUpPointsStreamAndFilesEndIt) {
  open();
  const std::vector<NumberedExample> two(2);
  EXPECT_EQ(std::get<LearnedReply>(ask(LearnRequest{false, two}).body).examples, 2);
  EXPECT_EQ(std::get<LearnedReply>(ask(LearnRequest{true, two}).body).examples, 2);
  EXPECT_EQ(std::get<LearnedReply>(ask(LearnRequest{false, {{}}}).body).examples, 3);
  for (int64_t step = 1; step <= 3; ++step) {
    const Reply reply = step == 1 ? ask(FitRequest{"f", "id", {}}) : next();
    const auto& point = std::get<TrainingPoint>(reply.body);
    EXPECT_EQ(point.step, step);
    EXPECT_EQ(point.steps, 3);
    EXPECT_EQ(point.values.at("development.examples"), 2);
  }
  const Reply end = next();
  const auto& outcome = std::get<TrainingOutcome>(end.body);
  EXPECT_EQ(outcome.files.at(0).role, "adapter");
  EXPECT_EQ(outcome.cost.steps, 3);
  EXPECT_GT(outcome.cost.peak_bytes, 0) << "of the host, which knows it";
}

TEST_F(TrainingHost, ItsErrorsEndTheSessionAndNotTheHost) {
  EXPECT_THAT(failure(ask(LearnRequest{})), HasSubstr("without an open training"));
  EXPECT_THAT(failure(ask(FitRequest{})), HasSubstr("without an open training"));
  EXPECT_THAT(failure(open("plain")), HasSubstr("method 'plain' does not train"));
  open();
  ask(LearnRequest{false, {{}}});
  EXPECT_EQ(failure(ask(FitRequest{"bad", "id", {}})), "cannot be learnt from");
  open();
  EXPECT_EQ(std::get<LearnedReply>(ask(LearnRequest{false, {{}}}).body).examples, 1)
      << "what an earlier training learnt from is gone";
  EXPECT_THAT(failure(ask(FitRequest{"nan", "id", {}})),
              HasSubstr("'loss' is no number at step 1"));
}

}  // namespace
}  // namespace qfs::host
