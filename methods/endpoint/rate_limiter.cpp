#include "methods/endpoint/rate_limiter.h"

#include <algorithm>
#include <cmath>
#include <thread>

namespace qfs::endpoint {
namespace {

constexpr double kSecondsPerMinute = 60;

std::chrono::nanoseconds duration(double seconds) {
  return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

}  // namespace

RateLimiter::RateLimiter(const Params& params)
    : backoff_s_(params.get<double>("backoff")),
      longest_backoff_s_(params.get<double>("longest_backoff")),
      longest_retry_after_s_(params.get<double>("longest_retry_after")),
      retries_(params.get<int64_t>("retries")) {
  if (const auto rate = params.find<double>("requests_per_minute")) {
    spacing_s_ = kSecondsPerMinute / *rate;
  }
}

void RateLimiter::wait_for_turn() {
  Clock::time_point turn;
  {
    const std::lock_guard lock(mutex_);
    turn = std::max(next_, Clock::now());
    next_ = turn + duration(spacing_s_);
  }
  std::this_thread::sleep_until(turn);
}

void RateLimiter::hold(double seconds) {
  const std::lock_guard lock(mutex_);
  next_ = std::max(next_, Clock::now() + duration(seconds));
}

double RateLimiter::backoff_s(int64_t tries, uint64_t random) const {
  constexpr int64_t kMostDoublings = 40;
  const double pause =
      std::min(std::ldexp(backoff_s_, static_cast<int>(std::min(tries - 1, kMostDoublings))),
               longest_backoff_s_);
  const double part = static_cast<double>(random >> 11) / static_cast<double>(uint64_t{1} << 53);
  return pause * (1 + part / 2);
}

void sleep_s(double seconds) { std::this_thread::sleep_for(duration(seconds)); }

}  // namespace qfs::endpoint
