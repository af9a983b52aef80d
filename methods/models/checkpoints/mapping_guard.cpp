#include "methods/models/checkpoints/mapping_guard.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>

namespace qfs::checkpoints {

namespace {

constexpr int kDataMismatch = 5;  // exit code of the program for data that are not what they were

struct Slot {
  std::atomic<uintptr_t> begin{0};  ///< 0: free; 1: being filled
  std::atomic<uintptr_t> end{0};
  std::atomic<const char*> path{nullptr};
};

std::array<Slot, 1024> slots;
struct sigaction previous_action;

void put(const char* text) {
  const ssize_t ignored = ::write(STDERR_FILENO, text, std::strlen(text));
  static_cast<void>(ignored);
}

void on_bus_error(int number, siginfo_t* information, void* /*context*/) {
  const auto address = reinterpret_cast<uintptr_t>(information->si_addr);
  for (const Slot& slot : slots) {
    const uintptr_t begin = slot.begin.load(std::memory_order_acquire);
    if (begin <= 1 || address < begin || address >= slot.end.load(std::memory_order_acquire)) {
      continue;
    }
    put("error: '");
    put(slot.path.load(std::memory_order_acquire));
    put("' became shorter, or its disk failed, while it was mapped (SIGBUS)\n");
    ::_exit(kDataMismatch);
  }
  // Not ours: the instruction faults again under the handler that was there before.
  ::sigaction(number, &previous_action, nullptr);
}

void install_handler() {
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, &previous_action);
}

}  // namespace

int guard_mapping(const void* begin, size_t bytes, const char* path) {
  static std::once_flag once;
  std::call_once(once, install_handler);
  for (size_t i = 0; i < slots.size(); ++i) {
    uintptr_t expected = 0;
    if (!slots[i].begin.compare_exchange_strong(expected, 1)) continue;
    const auto first = reinterpret_cast<uintptr_t>(begin);
    slots[i].path.store(path);
    slots[i].end.store(first + bytes);
    slots[i].begin.store(first, std::memory_order_release);
    return static_cast<int>(i);
  }
  return -1;
}

void release_mapping(int guard) {
  if (guard >= 0) slots[static_cast<size_t>(guard)].begin.store(0);
}

}  // namespace qfs::checkpoints
