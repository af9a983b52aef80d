// RateLimiter: when the next request may begin, and how long to wait before trying again.
//
// One a session, shared by its workers: requests begin at least 1 / requests_per_minute apart, and
// a server that asks for a pause gets one from all of them. Thread-safe; cannot fail.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

#include "harness/api/params.h"

namespace qfs::endpoint {

class RateLimiter {
 public:
  explicit RateLimiter(const Params& params);

  /// Sleeps until a request may begin.
  void wait_for_turn();
  /// Lets nobody begin before `seconds` from now.
  void hold(double seconds);
  /// Pause before try number `tries` + 1 (`tries` >= 1 have failed): exponential, with a random
  /// part of up to a half, so that workers that failed together do not return together.
  double backoff_s(int64_t tries, uint64_t random) const;

  int64_t retries() const { return retries_; }
  double longest_retry_after_s() const { return longest_retry_after_s_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::mutex mutex_;
  Clock::time_point next_ = Clock::now();
  double spacing_s_ = 0;
  double backoff_s_;
  double longest_backoff_s_;
  double longest_retry_after_s_;
  int64_t retries_;
};

void sleep_s(double seconds);

}  // namespace qfs::endpoint
