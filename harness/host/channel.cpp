#include "harness/host/channel.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "harness/host/messages.h"

namespace qfs::host {

namespace {

constexpr size_t kReadBlockBytes = size_t{1} << 16;

Result<std::string> framed(std::string_view line) {
  if (line.size() >= kMaxMessageBytes) {
    return invalid_argument("a message of " + std::to_string(line.size() + 1) +
                            " bytes is longer than the protocol's 64 MiB");
  }
  return std::string(line) + '\n';
}

}  // namespace

std::optional<std::string> LineChannel::take_line() {
  const size_t end = buffer_.find('\n', scanned_);
  if (end == std::string::npos) {
    scanned_ = buffer_.size();
    return std::nullopt;
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  scanned_ = 0;
  return line;
}

Result<LineChannel::ReadOutcome> LineChannel::read(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (bool waited = false;; waited = true) {
    if (auto line = take_line()) return ReadOutcome{Event::line, std::move(*line)};
    if (buffer_.size() > kMaxMessageBytes) {
      return data_error("a message is longer than 64 MiB");
    }
    int wait_ms = -1;
    if (timeout >= std::chrono::milliseconds::zero()) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      wait_ms = static_cast<int>(std::max<int64_t>(0, left.count()));
    }
    // Also where bytes keep coming: a line that does not end is no reason to miss a time limit.
    if (waited && wait_ms == 0) return ReadOutcome{Event::nothing, {}};
    pollfd waiting[2] = {{read_fd_, POLLIN, 0}, {queued_.empty() ? -1 : write_fd_, POLLOUT, 0}};
    const int ready = poll(waiting, 2, wait_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return unavailable(std::string("poll failed: ") + std::strerror(errno));
    if (waiting[1].revents != 0) send_queued();
    if (waiting[0].revents == 0) continue;
    const size_t old_size = buffer_.size();
    buffer_.resize(old_size + kReadBlockBytes);
    const ssize_t got = ::read(read_fd_, buffer_.data() + old_size, kReadBlockBytes);
    buffer_.resize(old_size + (got > 0 ? static_cast<size_t>(got) : 0));
    if (got == 0) return ReadOutcome{Event::end, {}};
    if (got < 0 && errno != EINTR && errno != EAGAIN) {
      return unavailable(std::string("reading a message failed: ") + std::strerror(errno));
    }
  }
}

Result<LineChannel::ReadOutcome> LineChannel::read() { return read(std::chrono::milliseconds(-1)); }

Status LineChannel::write(std::string_view line) {
  const Result<std::string> message = framed(line);
  if (!message) return message.error();
  const std::lock_guard lock(write_mutex_);
  size_t sent = 0;
  while (sent < message->size()) {
    const ssize_t n = ::write(write_fd_, message->data() + sent, message->size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return unavailable(std::string("writing a message failed: ") + std::strerror(errno));
    sent += static_cast<size_t>(n);
  }
  return {};
}

Status LineChannel::queue(std::string_view line) {
  Result<std::string> message = framed(line);
  if (!message) return message.error();
  queued_ = *std::move(message);
  sent_ = 0;
  return {};
}

void LineChannel::send_queued() {
  const ssize_t n = ::write(write_fd_, queued_.data() + sent_, queued_.size() - sent_);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n > 0) sent_ += static_cast<size_t>(n);
  if (n < 0 || sent_ == queued_.size()) queued_.clear();
}

}  // namespace qfs::host
