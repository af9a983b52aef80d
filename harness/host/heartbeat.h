// Heartbeat: says every 5 s that a request is still being worked on. Private to the host side.
//
// Alive from construction to destruction, on a thread of its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>

#include "harness/host/channel.h"

namespace qfs::host {

class Heartbeat {
 public:
  Heartbeat(LineChannel& channel, int64_t request_id);
  ~Heartbeat();

 private:
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace qfs::host
