// Arbitrary bytes as a file of every published set, beside the other files of a good sample: no
// crash, errors with the file's place, and for every example a key of its own.
#include <cstdlib>
#include <set>

#include "tests/support/fuzz.h"
#include "tests/support/memory_files.h"
#include "tests/support/set_samples.h"

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  for (const qfs::test::SetSample& sample : qfs::test::set_samples()) {
    for (const auto& [path, text] : sample.files) seeds.push_back(text);
  }
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<qfs::test::SetSample> samples = qfs::test::set_samples();
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const qfs::test::SetSample& sample : samples) {
    for (const auto& [path, good] : sample.files) {
      std::map<std::string, std::string> files = sample.files;
      files[path] = text;
      const auto read = qfs::test::read_set(sample.set, sample.split, files);
      if (!read) {
        if (read.error().where.empty() || read.error().message.empty()) std::abort();
        continue;
      }
      std::set<std::string> keys;
      for (const qfs::Example& example : *read) {
        if (example.key.empty() || !keys.insert(example.key).second) std::abort();
      }
    }
  }
  return 0;
}
