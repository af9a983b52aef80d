// Gives libFuzzer the target's seeds: writes them into a fresh folder and appends it to the
// corpora.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/fuzz.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  std::string folder = (std::filesystem::temp_directory_path() / "qfs-fuzz-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return 0;
  size_t number = 0;
  for (const std::string& seed : fuzz_seeds()) {
    std::ofstream(folder + "/seed-" + std::to_string(number++), std::ios::binary) << seed;
  }
  // libFuzzer keeps the pointers, so both outlive this call.
  static std::string corpus = folder;
  static std::vector<char*> arguments;
  arguments.assign(*argv, *argv + *argc);
  arguments.push_back(corpus.data());
  arguments.push_back(nullptr);
  *argc += 1;
  *argv = arguments.data();
  return 0;
}
