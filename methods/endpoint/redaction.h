// Redactor: takes secrets out of texts that somebody may read. A server may repeat the key that it
// was sent, in an error or in an answer.
//
// Used by the session on everything that leaves it. Immutable; thread-safe; cannot fail.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qfs::endpoint {

class Redactor {
 public:
  explicit Redactor(std::vector<std::string> secrets) : secrets_(std::move(secrets)) {}

  /// A message without any of the secrets.
  std::string message(std::string_view text) const { return without(text, 1); }

  /// An output without those of at least 12 bytes: short placeholders such as "EMPTY", which local
  /// servers are given, are words that a summary may have.
  std::string output(std::string_view text) const { return without(text, kShortestKey); }

 private:
  static constexpr size_t kShortestKey = 12;
  std::string without(std::string_view text, size_t shortest) const;

  std::vector<std::string> secrets_;
};

}  // namespace qfs::endpoint
