// The host's loop with timed units: the machine's limits are measured where they are asked for, and
// a failure to do so is no failure of the unit.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <thread>

#include "harness/host/channel.h"
#include "harness/host/server.h"

namespace qfs::host {
namespace {

/// Says what it is asked for; as the method "broken" it cannot measure.
class Measuring final : public MethodSession {
 public:
  explicit Measuring(bool broken) : broken_(broken) {}
  Status run(std::span<const NumberedExample>, PredictionSink& sink) override {
    sink.phase({"prefill", 5, 6, Work{.flops = 7, .bytes = 8}});
    return {};
  }
  Result<std::optional<MachineLimits>> measure_limits() override {
    if (broken_) return out_of_memory("no room for a buffer");
    return std::optional(MachineLimits{.read_bytes = 3, .copy_bytes = 2, .gemm_flops = 1});
  }

 private:
  bool broken_;
};

template <bool kBroken>
Result<std::unique_ptr<MethodSession>> open(const SessionRequest&, ResourceCache&) {
  return std::unique_ptr<MethodSession>(std::make_unique<Measuring>(kBroken));
}

class TimedHost : public ::testing::Test {
 protected:
  TimedHost() {
    EXPECT_EQ(::pipe(requests_.data()), 0);
    EXPECT_EQ(::pipe(replies_.data()), 0);
    channel_.emplace(replies_[0], requests_[1]);
    host_ = std::thread([this] {
      const std::array<SessionFactory, 2> sessions = {
          {{"measuring", open<false>}, {"broken", open<true>}}};
      serve(requests_[0], replies_[1], {.sessions = sessions, .probe = [](const RuntimeOptions&) {
                                          return Result<ProbeReply>(ProbeReply{});
                                        }});
    });
  }
  ~TimedHost() override {
    ::close(requests_[1]);
    host_.join();
    for (const int fd : {requests_[0], replies_[0], replies_[1]}) ::close(fd);
  }

  /// The reply that ends the request; a phase before it is kept.
  Reply ask(Request request) {
    EXPECT_TRUE(channel_->write(encode(request)).ok());
    while (true) {
      auto read = channel_->read();
      if (!read.ok() || read->event != LineChannel::Event::line) {
        ADD_FAILURE() << "the host is silent";
        return {};
      }
      auto reply = decode_reply(read->line);
      EXPECT_TRUE(reply.ok()) << read->line;
      if (auto* phase = std::get_if<PhaseReply>(&reply->body)) {
        phase_ = *phase;
      } else if (!std::holds_alternative<HeartbeatReply>(reply->body)) {
        return *reply;
      }
    }
  }
  void open_session(const std::string& method) {
    OpenRequest request;
    request.method = method;
    EXPECT_TRUE(std::holds_alternative<OpenedReply>(ask({1, request}).body));
  }
  std::optional<MachineLimits> limits_of_unit(bool wanted) {
    const Reply reply = ask({2, RunRequest{.measure = true, .limits = wanted}});
    const auto* done = std::get_if<DoneReply>(&reply.body);
    EXPECT_NE(done, nullptr);
    return done == nullptr ? std::nullopt : done->limits;
  }

  std::array<int, 2> requests_{};
  std::array<int, 2> replies_{};
  std::optional<LineChannel> channel_;
  std::thread host_;
  std::optional<PhaseReply> phase_;
};

TEST_F(TimedHost, MeasuresTheMachineAfterTheUnitThatAsksForIt) {
  open_session("measuring");
  EXPECT_FALSE(limits_of_unit(false));
  ASSERT_TRUE(phase_);
  EXPECT_EQ(phase_->work, (Work{7, 8}));
  EXPECT_EQ(limits_of_unit(true), (MachineLimits{3, 2, 1}));
}

TEST_F(TimedHost, GoesOnWhereTheMachineCannotBeMeasured) {
  open_session("broken");
  EXPECT_FALSE(limits_of_unit(true));
  EXPECT_FALSE(limits_of_unit(false));
}

}  // namespace
}  // namespace qfs::host
