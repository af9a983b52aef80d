// ServedHost: the host's loop on a thread of a test, which asks it over pipes.
//
// Fixture of the tests of sessions (tests/unit/host). One request at a time, from the test's own
// thread; a broken pipe or a reply that cannot be decoded fails the test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "harness/host/channel.h"
#include "harness/host/server.h"

namespace qfs::test {

class ServedHost : public ::testing::Test {
 protected:
  /// The sources of `services` outlive the fixture.
  explicit ServedHost(host::HostServices services) {
    EXPECT_EQ(::pipe(requests_.data()), 0);
    EXPECT_EQ(::pipe(replies_.data()), 0);
    channel_.emplace(replies_[0], requests_[1]);
    services.probe = [](const RuntimeOptions&) {
      return Result<host::ProbeReply>(host::ProbeReply{});
    };
    host_ = std::thread([this, services] { host::serve(requests_[0], replies_[1], services); });
  }
  ~ServedHost() override {
    ::close(requests_[1]);
    host_.join();
    for (const int fd : {requests_[0], replies_[0], replies_[1]}) ::close(fd);
  }

  template <class Body>
  host::Reply ask(Body body) {
    EXPECT_TRUE(channel_->write(encode(host::Request{++id_, std::move(body)}, {true, true})).ok());
    return next();
  }
  host::Reply next() {
    const auto read = channel_->read();
    EXPECT_TRUE(read.ok());
    const Result<host::Reply> reply = host::decode_reply(read->line);
    EXPECT_TRUE(reply.ok() && reply->id == id_) << read->line;
    return reply.ok() ? *reply : host::Reply{};
  }
  static std::string failure(const host::Reply& reply) {
    const auto* error = std::get_if<host::ErrorReply>(&reply.body);
    return error == nullptr ? "no error" : error->error.message;
  }
  static host::OpenRequest opening(const std::string& name, host::SessionKind kind) {
    host::OpenRequest open;
    open.method = name;
    open.kind = kind;
    return open;
  }

 private:
  std::array<int, 2> requests_{};
  std::array<int, 2> replies_{};
  std::thread host_;
  std::optional<host::LineChannel> channel_;
  int64_t id_ = 0;
};

}  // namespace qfs::test
