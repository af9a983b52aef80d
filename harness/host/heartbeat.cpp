#include "harness/host/heartbeat.h"

#include <chrono>

#include "harness/host/messages.h"

namespace qfs::host {

namespace {
constexpr std::chrono::seconds kPeriod{5};
}

Heartbeat::Heartbeat(LineChannel& channel, int64_t request_id)
    : thread_([this, &channel, request_id](const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        while (!wake_.wait_for(lock, stop, kPeriod, [&] { return stop.stop_requested(); })) {
          // A driver that is gone ends the main loop's next write; nothing to do about it here.
          if (!channel.write(encode(Reply{request_id, HeartbeatReply{}}))) return;
        }
      }) {}

Heartbeat::~Heartbeat() {
  thread_.request_stop();
  wake_.notify_all();
}

}  // namespace qfs::host
