#include "harness/core/failpoint.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <optional>
#include <string>
#include <utility>

namespace qfs {
namespace {

enum class Action {
  kill,
  error,      ///< report to the caller
  interrupt,  ///< as if the user pressed Ctrl-C
};

struct Failpoint {
  std::string name;
  Action action = Action::kill;
  uint64_t turn = 0;
  std::atomic<uint64_t> passings{0};
};

constexpr std::pair<std::string_view, Action> kActionMarks[] = {{":error", Action::error},
                                                                {":interrupt", Action::interrupt}};

/// Appends "name:count" or "name:action:count"; false when `text` is neither.
bool append_failpoint(std::string_view text, std::deque<Failpoint>& failpoints) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return false;
  const std::string_view count = text.substr(colon + 1);
  std::string_view name = text.substr(0, colon);
  Action action = Action::kill;
  for (const auto& [mark, marked] : kActionMarks) {
    if (!name.ends_with(mark)) continue;
    name.remove_suffix(mark.size());
    action = marked;
    break;
  }
  uint64_t turn = 0;
  const auto [end, code] = std::from_chars(count.data(), count.data() + count.size(), turn);
  if (code != std::errc() || end != count.data() + count.size() || turn == 0 || name.empty()) {
    return false;
  }
  Failpoint& failpoint = failpoints.emplace_back();
  failpoint.name = name;
  failpoint.action = action;
  failpoint.turn = turn;
  return true;
}

std::deque<Failpoint> failpoints_of_environment() {
  std::deque<Failpoint> failpoints;
  const char* const variable = std::getenv("QFS_FAILPOINT");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view text = rest.substr(0, comma);
    if (!append_failpoint(text, failpoints)) {
      // A test that asks for a crash and gets none would pass for the wrong reason.
      std::fprintf(stderr, "QFS_FAILPOINT: '%.*s' is not name:count or name:action:count\n",
                   static_cast<int>(text.size()), text.data());
      std::abort();
    }
    rest = comma == rest.npos ? "" : rest.substr(comma + 1);
  }
  return failpoints;
}

}  // namespace

bool failpoint_fires(std::string_view name) {
  static std::deque<Failpoint> failpoints = failpoints_of_environment();
  bool error = false;
  for (Failpoint& failpoint : failpoints) {
    if (failpoint.name != name) continue;
    if (failpoint.passings.fetch_add(1, std::memory_order_relaxed) + 1 != failpoint.turn) continue;
    if (failpoint.action == Action::error) {
      error = true;
    } else if (failpoint.action == Action::interrupt) {
      ::kill(::getpid(), SIGINT);
    } else {
      ::kill(::getpid(), SIGKILL);
      ::pause();  // the signal may reach another thread first
    }
  }
  return error;
}

}  // namespace qfs
