// Drives a fuzz target without libFuzzer: the seeds, then mutations of them in a fixed random
// sequence for QFS_FUZZ_SECONDS (default 2). A crash leaves the input in fuzz-crash.bin; given file
// names, replays these instead.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/fuzz.h"

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

constexpr size_t kMaxInputBytes = 64 << 10;

// The input being run, for the crash handler, which can only reach globals.
const std::string* current_input = nullptr;

void save_current_input() {
  if (current_input == nullptr) return;
  const int fd = ::open("fuzz-crash.bin", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd < 0) return;
  const ssize_t written = ::write(fd, current_input->data(), current_input->size());
  ::close(fd);
  constexpr char kNotice[] = "fuzz: input saved in fuzz-crash.bin\n";
  if (written >= 0 && ::write(STDERR_FILENO, kNotice, sizeof kNotice - 1) < 0) return;
}

void on_signal(int signal_number) {
  save_current_input();
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

void run(const std::string& input) {
  current_input = &input;
  // A copy of exactly the input's size, so that the address sanitizer sees a read past the end.
  const std::vector<uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  current_input = nullptr;
}

/// Byte-level mutations: flips, boundary values of every integer width, cuts, repeats, splices.
class Mutator {
 public:
  explicit Mutator(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {}

  std::string next() {
    std::string input = seeds_[below(seeds_.size())];
    for (size_t edits = 1 + below(6); edits > 0; --edits) edit(input);
    if (input.size() > kMaxInputBytes) input.resize(kMaxInputBytes);
    return input;
  }

 private:
  size_t below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  void edit(std::string& input) {
    const size_t at = below(input.size() + 1);
    const size_t length = below(std::min<size_t>(input.size() - at, 32) + 1);
    switch (below(6)) {
      case 0:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
        break;
      case 1:
        put_boundary_value(input, at);
        break;
      case 2:
        input.erase(at, length);
        break;
      case 3:
        input.insert(at, input.substr(at, length));
        break;
      case 4:
        input.resize(at);
        break;
      default: {
        const std::string& other = seeds_[below(seeds_.size())];
        const size_t from = below(other.size() + 1);
        input.replace(at, length, other.substr(from, below(64)));
      }
    }
  }

  void put_boundary_value(std::string& input, size_t at) {
    constexpr uint64_t kValues[] = {0,          1,          0x7f,      0x80,
                                    0xff,       0x7fff,     0xffff,    0x7fffffff,
                                    0x80000000, 0xffffffff, INT64_MAX, UINT64_MAX};
    const uint64_t value = kValues[below(std::size(kValues))];
    const size_t width = std::min<size_t>(size_t{1} << below(4), input.size() - at);
    if (width > 0) std::memcpy(input.data() + at, &value, width);
  }

  std::vector<std::string> seeds_;
  std::mt19937_64 random_{20240607};
};

double seconds_to_run() {
  const char* value = std::getenv("QFS_FUZZ_SECONDS");
  return value == nullptr ? 2.0 : std::strtod(value, nullptr);
}

int replay(int count, char** files) {
  for (int i = 0; i < count; ++i) {
    std::ifstream file(files[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "fuzz: cannot read %s\n", files[i]);
      return 1;
    }
    run(std::string(std::istreambuf_iterator<char>(file), {}));
  }
  std::printf("fuzz: %d files replayed\n", count);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  for (const int signal_number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) {
    std::signal(signal_number, on_signal);
  }
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(save_current_input);
  if (argc > 1) return replay(argc - 1, argv + 1);

  const std::vector<std::string> seeds = fuzz_seeds();
  if (seeds.empty()) {
    std::fprintf(stderr, "fuzz: no seeds\n");
    return 1;
  }
  for (const std::string& seed : seeds) run(seed);
  Mutator mutator(seeds);
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds_to_run());
  size_t count = seeds.size();
  for (; std::chrono::steady_clock::now() < end; ++count) run(mutator.next());
  std::printf("fuzz: %zu inputs\n", count);
  return 0;
}
