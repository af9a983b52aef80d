// LineChannel: JSON lines over two descriptors, bounded to 64 MiB a line, with time-outs on
// reading.
//
// Used by both ends of the session protocol. Writing to a dead peer is an `unavailable` error (the
// applications ignore SIGPIPE). `write` is safe from several threads (heartbeats), `read` from one.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "harness/api/result.h"

namespace qfs::host {

class LineChannel {
 public:
  /// The descriptors stay the caller's.
  LineChannel(int read_fd, int write_fd) : read_fd_(read_fd), write_fd_(write_fd) {}

  /// What a read ended with: a line, the end of the stream, or nothing within the time.
  enum class Event { line, end, nothing };
  struct ReadOutcome {
    Event event = Event::nothing;
    std::string line;
  };

  Result<ReadOutcome> read(std::chrono::milliseconds timeout);
  /// Waits as long as it takes.
  Result<ReadOutcome> read();
  /// Waits as long as it takes.
  Status write(std::string_view line);
  /// For a descriptor that does not block: sent while `read` waits, so that a peer that does not
  /// read cannot hold us. What a peer that is gone did not take is dropped.
  Status queue(std::string_view line);

 private:
  std::optional<std::string> take_line();
  void send_queued();

  int read_fd_;
  int write_fd_;
  std::string buffer_;
  size_t scanned_ = 0;  // bytes of buffer_ known to hold no newline
  std::string queued_;
  size_t sent_ = 0;  // bytes of queued_
  std::mutex write_mutex_;
};

}  // namespace qfs::host
