// A safetensors file of a stranger: opening it and reading its tensors never crashes, and what
// opens lies inside the file.
#include <cstdlib>
#include <string>
#include <vector>

#include "methods/models/checkpoints/safetensors.h"
#include "tests/support/fuzz.h"
#include "tests/support/safetensors_writer.h"
#include "tests/support/temporary_folder.h"

std::vector<std::string> fuzz_seeds() {
  qfs::test::SafetensorsWriter writer;
  writer.tensor("a", {2, 3}, {1, 2, 3, 4, 5, 6});
  writer.raw("b", "BF16", {2}, std::string(4, '\x3C'));
  writer.raw("c", "BOOL", {}, std::string(1, '\1'));
  qfs::test::SafetensorsWriter described = writer;
  described.header =
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"U8","shape":[29],"data_offsets":[0,29]}})";
  return {writer.bytes(), described.bytes()};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const qfs::test::TemporaryFolder folder;
  const std::string path =
      folder.write("model.safetensors", {reinterpret_cast<const char*>(data), size});
  const auto checkpoint = qfs::checkpoints::open_safetensors(path);
  if (!checkpoint.ok()) return 0;
  for (const auto& tensor : (*checkpoint)->tensors()) {
    if ((*checkpoint)->mapped_bytes(tensor).size() != tensor.bytes || tensor.bytes > size) abort();
    if (tensor.elements > static_cast<int64_t>(size)) abort();
    std::vector<float> values(static_cast<size_t>(tensor.elements));
    static_cast<void>((*checkpoint)->read(tensor, values).ok());
  }
  return 0;
}
