// ConfigReader: the keys of a config.json one after the other, with the first failure kept.
//
// Used by readers of architectures' configurations. After a failure values are 1, false or empty;
// the caller looks at status() before it uses any. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "harness/api/result.h"
#include "methods/models/checkpoints/config_object.h"

namespace qfs::architectures {

class ConfigReader {
 public:
  explicit ConfigReader(const checkpoints::ConfigObject& config) : config_(config) {}

  /// From 1.
  int64_t integer(std::string_view key, int64_t maximum) {
    return take(config_.integer(key, 1, maximum), int64_t{1});
  }
  int64_t integer_or(std::string_view key, int64_t maximum, int64_t fallback) {
    return take(config_.integer_or(key, 1, maximum, fallback), int64_t{1});
  }
  /// From 0.
  int64_t count_or(std::string_view key, int64_t maximum, int64_t fallback) {
    return take(config_.integer_or(key, 0, maximum, fallback), int64_t{1});
  }
  double real_or(std::string_view key, double fallback) {
    return take(config_.real_or(key, fallback), 1.0);
  }
  bool boolean_or(std::string_view key, bool fallback) {
    return take(config_.boolean_or(key, fallback), false);
  }
  std::string text_or(std::string_view key, std::string fallback) {
    return take(config_.text_or(key, std::move(fallback)), std::string());
  }
  const Status& status() const { return status_; }

 private:
  template <class T>
  T take(Result<T> value, T after_failure) {
    if (value.ok()) return *std::move(value);
    if (status_.ok()) status_ = value.error();
    return after_failure;
  }

  const checkpoints::ConfigObject& config_;
  Status status_;
};

}  // namespace qfs::architectures
