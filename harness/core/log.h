// The operator's log (spdlog to stderr): progress and warnings for people, never results.
//
// Level by --quiet/--verbose. A message is one line whatever it holds: line breaks and terminal
// control sequences in it are shown, not obeyed. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace qfs {

enum class LogLevel { quiet, normal, verbose };

void set_log_level(LogLevel level);
void log_info(std::string_view message);
void log_warning(std::string_view message);
void log_detail(std::string_view message);  ///< shown with --verbose

/// Text as it may be shown on a terminal: C0/C1 controls (except \n and \t) and bidirectional
/// overrides become visible escapes such as \x1b. The one escaping function of the terminal sink.
std::string terminal_safe(std::string_view text);

/// JSON as it may be shown on a terminal: the same characters as JSON's own escapes (\u009b), so
/// that the value stays equal.
std::string terminal_safe_json(std::string_view json);

/// The same for text that is one line: a line break becomes "\n", so that no name or message can
/// write a line of its own.
std::string line_safe(std::string_view text);

}  // namespace qfs
