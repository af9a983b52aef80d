// HttpClient: one request to a server at a time, over a connection that is kept.
//
// Each worker of a session has its own. An answer is whatever the server said, of any status; a
// Failure is that it said nothing whole. Redirects are not followed: they would carry the key
// elsewhere. Bodies are bounded. Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "harness/api/result.h"
#include "methods/endpoint/settings.h"

namespace qfs::endpoint {

struct HttpAnswer {
  long status = 0;
  std::string body;
  std::optional<double> retry_after_s;  ///< as the server asks, seconds or date
  std::string location;                 ///< of a redirect
};

struct HttpFailure {
  Error error;
  bool may_pass = false;  ///< the same request may succeed later
};

using HttpOutcome = std::variant<HttpAnswer, HttpFailure>;

inline constexpr size_t kMaxAnswerBytes = size_t{32} << 20;

class HttpClient {
 public:
  /// `unavailable` without libcurl. `settings` outlives the client.
  static Result<HttpClient> open(const HttpSettings& settings);
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  HttpOutcome get(const std::string& url);
  HttpOutcome post(const std::string& url, const std::string& body);

 private:
  struct State;
  explicit HttpClient(std::unique_ptr<State> state);
  HttpOutcome perform(const std::string& url, const std::string* body);
  std::unique_ptr<State> state_;
};

}  // namespace qfs::endpoint
