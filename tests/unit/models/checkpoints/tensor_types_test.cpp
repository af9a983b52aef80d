// Packed blocks become the float32 values that ggml's formats define, bit for bit.
#include "methods/models/checkpoints/tensor_types.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace qfs::checkpoints {
namespace {

TEST(FloatFromHalf, covers_every_class_of_binary16) {
  EXPECT_EQ(float_from_half(0x3C00), 1.0f);
  EXPECT_EQ(float_from_half(0xC000), -2.0f);
  EXPECT_EQ(float_from_half(0x7BFF), 65504.0f);             // largest normal
  EXPECT_EQ(float_from_half(0x0400), 0x1p-14f);             // smallest normal
  EXPECT_EQ(float_from_half(0x0001), 0x1p-24f);             // smallest subnormal
  EXPECT_EQ(float_from_half(0x83FF), -1023.0f * 0x1p-24f);  // largest subnormal, negative
  EXPECT_TRUE(std::signbit(float_from_half(0x8000)));
  EXPECT_EQ(float_from_half(0x7C00), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(float_from_half(0x7E00)));
}

TEST(Dequantize, f16_is_exact) {
  const std::string bytes("\x00\x3C\x00\xB8", 4);  // 1, -0.5
  std::vector<float> out(2);
  dequantize(TensorType::f16, bytes.data(), 2, out.data());
  EXPECT_EQ(out, (std::vector<float>{1.0f, -0.5f}));
}

TEST(Dequantize, q4_1_holds_low_nibbles_first_and_adds_the_minimum) {
  std::string block("\x00\x38\x00\xBC", 4);  // scale 0.5, minimum -1
  for (int i = 0; i < 16; ++i) block += static_cast<char>(i | ((15 - i) << 4));
  std::vector<float> out(32);
  dequantize(TensorType::q4_1, block.data(), 32, out.data());
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(out[static_cast<size_t>(i)], 0.5f * static_cast<float>(i) - 1.0f);
    EXPECT_EQ(out[static_cast<size_t>(16 + i)], 0.5f * static_cast<float>(15 - i) - 1.0f);
  }
}

TEST(Dequantize, q8_0_scales_signed_bytes_of_every_block) {
  std::string blocks;
  for (const char* scale : {"\x00\x34", "\x00\x40"}) {  // 0.25, 2
    blocks.append(scale, 2);
    for (int i = 0; i < 32; ++i) blocks += static_cast<char>(i - 16);
  }
  std::vector<float> out(64);
  dequantize(TensorType::q8_0, blocks.data(), 64, out.data());
  EXPECT_EQ(out[0], -4.0f);
  EXPECT_EQ(out[31], 3.75f);
  EXPECT_EQ(out[32], -32.0f);
  EXPECT_EQ(out[63], 30.0f);
}

TEST(TensorTypeName, names_what_ggml_names) {
  EXPECT_EQ(tensor_type_name(12), "Q4_K");
  EXPECT_EQ(tensor_type_name(30), "BF16");
  EXPECT_EQ(tensor_type_name(4), "type 4");
  EXPECT_EQ(tensor_type_name(99), "type 99");
}

}  // namespace
}  // namespace qfs::checkpoints
