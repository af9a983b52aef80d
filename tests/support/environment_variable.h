// EnvironmentVariable: a variable set (or unset) for one scope, restored at its end. For tests that
// run in one thread.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace qfs::test {

class EnvironmentVariable {
 public:
  /// Without `value` the variable is unset.
  EnvironmentVariable(std::string name, const std::optional<std::string>& value)
      : name_(std::move(name)) {
    if (const char* const before = std::getenv(name_.c_str())) before_ = before;
    assign(value);
  }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;
  ~EnvironmentVariable() { assign(before_); }

 private:
  void assign(const std::optional<std::string>& value) const {
    if (value) {
      ::setenv(name_.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }

  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace qfs::test
