// Packed blocks have the values of the gguf package bit for bit, and safetensors files are read or
// refused as the reference reader does. Values by make_dequantized.py and
// make_safetensors_cases.py.
#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/checkpoints/tensor_types.h"
#include "tests/support/temporary_folder.h"

namespace qfs::checkpoints {
namespace {

nlohmann::json expected(const std::string& name) {
  std::ifstream file("tests/conformance/models/checkpoints/" + name);
  return nlohmann::json::parse(file);
}

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

std::string from_base64(const std::string& text) {
  std::string bytes;
  uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t digit = kDigits.find(c);
    if (digit == kDigits.npos) break;
    bits = (bits << 6) | static_cast<uint32_t>(digit);
    held += 6;
    if (held >= 8) bytes += static_cast<char>((bits >> (held -= 8)) & 255);
  }
  return bytes;
}

TEST(CheckpointConformance, blocks_have_the_bits_of_the_gguf_package) {
  const auto document = expected("dequantized.json");
  ASSERT_EQ(document["cases"].size(), 7u);
  for (const auto& item : document["cases"]) {
    const std::string packed = from_hex(item["packed"]);
    const auto bits = item["bits"].get<std::vector<uint32_t>>();
    std::vector<float> values(bits.size());
    dequantize(static_cast<TensorType>(item["number"].get<uint32_t>()), packed.data(),
               static_cast<int64_t>(values.size()), values.data());
    for (size_t i = 0; i < bits.size(); ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(values[i]), bits[i]) << item["type"] << " element " << i;
    }
  }
}

TEST(CheckpointConformance, files_are_read_or_refused_as_the_reference_does) {
  const qfs::test::TemporaryFolder folder;
  const auto document = expected("safetensors_cases.json");
  size_t number = 0;
  size_t read = 0;
  for (const auto& item : document["cases"]) {
    const auto checkpoint =
        open_safetensors(folder.write("case.safetensors", from_base64(item["file"])));
    ASSERT_EQ(checkpoint.ok(), item.contains("tensors"))
        << number << ": " << (checkpoint.ok() ? "" : checkpoint.error().to_string());
    ++number;
    if (!checkpoint.ok()) continue;
    ++read;
    nlohmann::json tensors = nlohmann::json::array();
    for (const TensorEntry& tensor : (*checkpoint)->tensors()) {
      tensors.push_back({tensor.name, tensor_type_name(tensor.type), tensor.shape});
    }
    EXPECT_EQ(tensors, item["tensors"]) << number;
  }
  EXPECT_GT(read, 50u);
  EXPECT_GT(number - read, 50u);
}

}  // namespace
}  // namespace qfs::checkpoints
