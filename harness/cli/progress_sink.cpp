// The two ways in which progress reaches standard error.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "harness/cli/progress_printer.h"
#include "harness/core/log.h"
#include "harness/core/utf8.h"

namespace qfs::cli {
namespace {

/// Plain lines in the log.
class LogSink : public ProgressSink {
 public:
  void line(std::string_view text) override { log_info(text); }
  void problem(std::string_view text) override { log_warning(text); }
  void status(std::string_view) override {}
  bool redraws() const override { return false; }
};

/// A status line at the bottom of a terminal; other lines scroll above it.
class TerminalSink : public ProgressSink {
 public:
  void line(std::string_view text) override {
    erase();
    log_info(text);
  }
  void problem(std::string_view text) override {
    erase();
    log_warning(text);
  }
  void status(std::string_view text) override {
    erase();
    if (text.empty()) return;
    std::string shown = line_safe(text);
    shown.resize(whole_code_points(shown, columns() - 1));
    std::fwrite(shown.data(), 1, shown.size(), stderr);
    std::fflush(stderr);
    drawn_ = true;
  }
  bool redraws() const override { return true; }

 private:
  static size_t columns() {
    constexpr size_t kUsual = 80;
    winsize size{};
    const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col : kUsual;
  }

  void erase() {
    if (!drawn_) return;
    std::fputs("\r\x1b[K", stderr);
    std::fflush(stderr);
    drawn_ = false;
  }

  bool drawn_ = false;
};

}  // namespace

std::unique_ptr<ProgressSink> standard_progress_sink(bool quiet) {
  if (!quiet && ::isatty(STDERR_FILENO) == 1) return std::make_unique<TerminalSink>();
  return std::make_unique<LogSink>();
}

}  // namespace qfs::cli
