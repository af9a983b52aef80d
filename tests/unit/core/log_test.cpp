// terminal_safe and the three levels of the log.
#include "harness/core/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace qfs {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(TerminalSafe, KeepsOrdinaryTextNewlinesAndTabs) {
  const std::string text = "café 日本語 😀\n\tindented ~";
  EXPECT_EQ(terminal_safe(text), text);
}

TEST(TerminalSafe, ShowsControlCharacters) {
  EXPECT_EQ(terminal_safe("\x1b[31mred\x1b]0;title\x07"), "\\x1b[31mred\\x1b]0;title\\x07");
  EXPECT_EQ(terminal_safe(std::string("a\0b\r\x7F", 5)), "a\\x00b\\x0d\\x7f");
}

TEST(TerminalSafe, ShowsC1ControlsWrittenInUtf8) {
  EXPECT_EQ(terminal_safe("\xC2\x9B"
                          "31m"),
            "\\x9b31m");                             // U+009B is CSI
  EXPECT_EQ(terminal_safe("\xC2\xA0"), "\xC2\xA0");  // U+00A0 is the first that is not
}

TEST(TerminalSafe, ShowsBidirectionalControls) {
  EXPECT_EQ(terminal_safe("a\xE2\x80\xAE"
                          "b"),
            "a\\u202eb");
  EXPECT_EQ(terminal_safe("\xE2\x81\xA6\xE2\x81\xA9\xE2\x80\x8F\xD8\x9C"),
            "\\u2066\\u2069\\u200f\\u061c");
}

TEST(TerminalSafe, RepairsIllFormedText) {
  EXPECT_EQ(terminal_safe("a\x9B"
                          "b"),
            "a\xEF\xBF\xBD"
            "b");
}

TEST(TerminalSafeJson, EscapesAsJsonDoesSoThatTheValueStays) {
  EXPECT_EQ(terminal_safe_json("{\"a\": \"\xC2\x9B"
                               "31m\x7F\xE2\x80\xAE é\"}\n"),
            "{\"a\": \"\\u009b31m\\u007f\\u202e é\"}\n");
}

TEST(LineSafe, IsOneLineWhateverTheTextHolds) {
  EXPECT_EQ(line_safe("a\nb\tc"), "a\\nb\tc");
  EXPECT_EQ(line_safe("a\r\nb\xE2\x80\xA8"
                      "c\xC2\x85"
                      "d"),
            "a\\x0d\\nb\\u2028c\\x85d");
}

class Log : public ::testing::Test {
 protected:
  static std::string written(LogLevel level) {
    set_log_level(level);
    ::testing::internal::CaptureStderr();
    log_detail("a detail");
    log_info("some \x1b[31m info");
    log_warning("a caution");
    std::string text = ::testing::internal::GetCapturedStderr();
    set_log_level(LogLevel::normal);
    return text;
  }
};

TEST_F(Log, LevelsDecideWhatIsShown) {
  EXPECT_THAT(written(LogLevel::quiet), Not(HasSubstr("info")));
  EXPECT_THAT(written(LogLevel::quiet), HasSubstr("warning: a caution"));
  EXPECT_THAT(written(LogLevel::normal), HasSubstr("info"));
  EXPECT_THAT(written(LogLevel::normal), Not(HasSubstr("detail")));
  EXPECT_THAT(written(LogLevel::verbose), HasSubstr("a detail"));
}

TEST_F(Log, AMessageCannotWriteALineOfItsOwn) {
  ::testing::internal::CaptureStderr();
  log_warning("label 'x\n2026-01-01T00:00:00.000Z all is well'");
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST_F(Log, EscapesForeignText) { EXPECT_THAT(written(LogLevel::normal), HasSubstr("\\x1b[31m")); }

}  // namespace
}  // namespace qfs
