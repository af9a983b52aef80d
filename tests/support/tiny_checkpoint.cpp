#include "tests/support/tiny_checkpoint.h"

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/support/safetensors_writer.h"

namespace qfs::test {
namespace {

uint64_t fnv1a(std::string_view text) {
  uint64_t value = 0xCBF29CE484222325;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return value;
}

/// The upper half of each float, which is exact for what the script makes for BF16.
std::string as_bfloat16(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) {
    const auto upper = static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16U);
    bytes.append(reinterpret_cast<const char*>(&upper), sizeof(upper));
  }
  return bytes;
}

}  // namespace

std::vector<float> tiny_values(std::string_view name, int64_t count, float scale, float offset) {
  std::vector<float> values;
  uint64_t state = fnv1a(name);
  for (int64_t i = 0; i < count; ++i) {
    state += 0x9E3779B97F4A7C15;
    uint64_t z = state;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EB;
    z ^= z >> 31U;
    const auto k = static_cast<float>(static_cast<int64_t>(z >> 56U) - 128);
    values.push_back(offset + scale * (k / 128));
  }
  return values;
}

std::string write_tiny_checkpoint(const TemporaryFolder& folder, const nlohmann::json& test_case) {
  folder.write("config.json", test_case.at("config").dump());
  const auto shards = test_case.value("shards", size_t{1});
  const bool half = test_case.value("dtype", "F32") == "BF16";
  std::vector<SafetensorsWriter> writers(shards);
  nlohmann::json map = nlohmann::json::object();
  const auto file_name = [&](size_t shard) {
    if (shards == 1) return std::string("model.safetensors");
    return "model-0000" + std::to_string(shard + 1) + "-of-0000" + std::to_string(shards) +
           ".safetensors";
  };
  const auto front = test_case.value("stored_under", std::string());
  size_t index = 0;
  for (const nlohmann::json& tensor : test_case.at("tensors")) {
    const std::string made_from = tensor.at("name");
    const std::string name = front + made_from;
    const std::vector<int64_t> shape = tensor.at("shape");
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    const std::vector<float> values =
        tiny_values(made_from, count, tensor.at("scale"), tensor.at("offset"));
    const size_t shard = index++ % shards;
    if (half) {
      writers[shard].raw(name, "BF16", shape, as_bfloat16(values));
    } else {
      writers[shard].tensor(name, shape, values);
    }
    map[name] = file_name(shard);
  }
  for (size_t shard = 0; shard < shards; ++shard) {
    folder.write(file_name(shard), writers[shard].bytes());
  }
  if (shards > 1) {
    folder.write("model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump());
  }
  return folder.path();
}

}  // namespace qfs::test
