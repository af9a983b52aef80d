#include "methods/endpoint/retry_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/core/clock.h"
#include "methods/endpoint/answer.h"

namespace qfs::endpoint {
namespace {

bool is_success(long status) { return status >= 200 && status < 300; }

/// Too early, too often, too busy, or broken for now.
bool may_pass(long status) {
  constexpr std::array<long, 4> kPassing = {408, 409, 425, 429};
  return status >= 500 || std::ranges::find(kPassing, status) != kPassing.end();
}

}  // namespace

AskFailure refusal(const HttpAnswer& answer, const Redactor& redactor) {
  const std::string said = redactor.message(error_message(answer.body));
  if (answer.status >= 300 && answer.status < 400) {
    return {invalid_argument(fmt::format(
                "the server sends requests on to '{}' (HTTP {}), where the key shall not go "
                "unasked; 'base_url' must be the address itself",
                redactor.message(answer.location), answer.status)),
            true};
  }
  switch (answer.status) {
    case 401:
    case 403:
      return {unavailable(fmt::format("the server refuses the key, or wants one (HTTP {}): {}; "
                                      "'api_key_env' names the environment variable that holds it",
                                      answer.status, said)),
              true};
    case 404:
    case 405:
      return {unavailable(fmt::format("the server does not have this address or model (HTTP {}): "
                                      "{}",
                                      answer.status, said)),
              true};
    default:
      break;
  }
  std::string message = fmt::format("the server answered HTTP {}: {}", answer.status, said);
  if (may_pass(answer.status)) return {unavailable(std::move(message)), false};
  return {invalid_argument(std::move(message)), false};
}

std::variant<Asked, AskFailure> RetryClient::ask(const std::string& url, const std::string* body,
                                                 const Check& check) {
  for (int64_t tries = 1;; ++tries) {
    limiter_.wait_for_turn();
    const int64_t start_ns = monotonic_ns();
    HttpOutcome outcome = body == nullptr ? client_.get(url) : client_.post(url, *body);
    const int64_t latency_ns = monotonic_ns() - start_ns;
    std::optional<AskFailure> end;
    if (auto* failure = std::get_if<HttpFailure>(&outcome)) {
      failure->error.message = redactor_.message(failure->error.message);
      // A time-out may be one question's; without a connection there is none for any.
      const bool for_all = failure->error.kind == ErrorKind::unavailable;
      end = give_up_or_pause({std::move(failure->error), for_all}, failure->may_pass, tries, {});
    } else {
      auto& answer = std::get<HttpAnswer>(outcome);
      if (is_success(answer.status)) {
        Status whole = check(answer);
        if (whole.ok()) return Asked{std::move(answer), tries, latency_ns};
        Error error = whole.error();
        error.message = redactor_.message(error.message);
        end = give_up_or_pause({std::move(error), false}, true, tries, {});
      } else if (!may_pass(answer.status) || says_overlength(answer.body)) {
        return Asked{std::move(answer), tries, latency_ns};
      } else {
        end = give_up_or_pause(refusal(answer, redactor_), true, tries, answer.retry_after_s);
      }
    }
    if (end) return *std::move(end);
  }
}

std::optional<AskFailure> RetryClient::give_up_or_pause(AskFailure failure, bool may_pass,
                                                        int64_t tries,
                                                        std::optional<double> retry_after_s) {
  if (retry_after_s && *retry_after_s > limiter_.longest_retry_after_s()) {
    failure.error.message += fmt::format("; it asks for a pause of {:.0f} s", *retry_after_s);
    failure.for_all = true;
    return failure;
  }
  if (!may_pass || tries > limiter_.retries()) {
    if (tries > 1) failure.error.message += fmt::format(" (after {} tries)", tries);
    return failure;
  }
  if (retry_after_s) limiter_.hold(*retry_after_s);  // for every worker; wait_for_turn sleeps
  sleep_s(limiter_.backoff_s(tries, random_.next()));
  return std::nullopt;
}

}  // namespace qfs::endpoint
