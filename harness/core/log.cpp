#include "harness/core/log.h"

#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <memory>

namespace qfs {
namespace {

/// People at a terminal see the message; files and CI logs also the time and the level.
std::shared_ptr<spdlog::logger> make_logger() {
  auto sink = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>("qfs", std::move(sink));
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  logger->set_pattern(terminal ? "%v" : "%Y-%m-%dT%H:%M:%S.%eZ %v",
                      terminal ? spdlog::pattern_time_type::local : spdlog::pattern_time_type::utc);
  logger->set_level(spdlog::level::info);
  logger->flush_on(spdlog::level::trace);
  return logger;
}

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = make_logger();
  return *instance;
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::quiet:
      return spdlog::level::warn;
    case LogLevel::normal:
      return spdlog::level::info;
    case LogLevel::verbose:
      return spdlog::level::debug;
  }
  return spdlog::level::info;
}

}  // namespace

void set_log_level(LogLevel level) { logger().set_level(spdlog_level(level)); }

void log_info(std::string_view message) { logger().info("{}", line_safe(message)); }

void log_warning(std::string_view message) { logger().warn("warning: {}", line_safe(message)); }

void log_detail(std::string_view message) { logger().debug("{}", line_safe(message)); }

}  // namespace qfs
