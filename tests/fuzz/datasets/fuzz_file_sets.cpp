// Arbitrary bytes as a file of a published set, beside the other files of a good sample: no crash,
// errors with a place, and for every example a key of its own. The first byte says which file.
#include <cstdlib>
#include <set>

#include "tests/support/fuzz.h"
#include "tests/support/memory_files.h"
#include "tests/support/set_samples.h"

namespace {

struct SetFile {
  qfs::test::SetSample sample;
  std::string path;
};

std::vector<SetFile> all_files() {
  std::vector<SetFile> files;
  for (const qfs::test::SetSample& sample : qfs::test::set_samples()) {
    for (const auto& [path, text] : sample.files) files.push_back({sample, path});
  }
  return files;
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  for (const SetFile& file : all_files()) {
    seeds.push_back(static_cast<char>(seeds.size()) + file.sample.files.at(file.path));
  }
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<SetFile> files = all_files();
  if (size == 0) return 0;
  const SetFile& file = files[data[0] % files.size()];
  std::map<std::string, std::string> texts = file.sample.files;
  texts[file.path].assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto read = qfs::test::read_set(file.sample.set, file.sample.split, std::move(texts));
  if (!read) {
    if (read.error().where.empty() || read.error().message.empty()) std::abort();
    return 0;
  }
  std::set<std::string> keys;
  for (const qfs::Example& example : *read) {
    if (example.key.empty() || !keys.insert(example.key).second) std::abort();
  }
  return 0;
}
