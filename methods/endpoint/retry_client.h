// RetryClient: one question to the server until it is answered or hope is given up — tries, pauses,
// Retry-After, and what each status means.
//
// One a worker; RateLimiter and Redactor are shared. Errors carry no secret. Not thread-safe.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "harness/api/result.h"
#include "harness/core/rng.h"
#include "methods/endpoint/http_client.h"
#include "methods/endpoint/rate_limiter.h"
#include "methods/endpoint/redaction.h"

namespace qfs::endpoint {

/// Why there is no answer.
struct AskFailure {
  Error error;
  bool for_all = false;  ///< other questions would fail as well: the server is away or refuses us
};

struct Asked {
  HttpAnswer answer;  ///< 2xx, or another status that no retry mends
  int64_t tries = 0;
  int64_t latency_ns = 0;  ///< of the try that was answered
};

class RetryClient {
 public:
  RetryClient(HttpClient client, RateLimiter& limiter, const Redactor& redactor, uint64_t seed)
      : client_(std::move(client)), limiter_(limiter), redactor_(redactor), random_(seed) {}

  /// Looks at an answer of status 2xx; an error means that it is damaged and worth another try.
  using Check = std::function<Status(const HttpAnswer&)>;

  /// POST of `body`, or GET where it is null.
  std::variant<Asked, AskFailure> ask(const std::string& url, const std::string* body,
                                      const Check& check);

 private:
  /// After a try that failed: the pause before the next one, or the failure.
  std::optional<AskFailure> give_up_or_pause(AskFailure failure, bool may_pass, int64_t tries,
                                             std::optional<double> retry_after_s);

  HttpClient client_;
  RateLimiter& limiter_;
  const Redactor& redactor_;
  Rng random_;
};

/// What a status that is no success means for this question and the others; `body` is the answer's.
AskFailure refusal(const HttpAnswer& answer, const Redactor& redactor);

}  // namespace qfs::endpoint
