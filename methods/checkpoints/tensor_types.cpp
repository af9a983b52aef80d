#include "methods/checkpoints/tensor_types.h"

#include <array>
#include <bit>
#include <cstring>

namespace qfs::checkpoints {

namespace {

constexpr int kBlock = 32;

uint16_t load_half(const unsigned char* bytes) {
  return static_cast<uint16_t>(bytes[0] | (bytes[1] << 8));
}

void dequantize_q4_1(const unsigned char* block, int64_t blocks, float* out) {
  for (int64_t b = 0; b < blocks; ++b, block += 20, out += kBlock) {
    const float scale = float_from_half(load_half(block));
    const float minimum = float_from_half(load_half(block + 2));
    for (int i = 0; i < kBlock / 2; ++i) {
      const int packed = block[4 + i];
      out[i] = static_cast<float>(packed & 15) * scale + minimum;
      out[i + kBlock / 2] = static_cast<float>(packed >> 4) * scale + minimum;
    }
  }
}

void dequantize_q8_0(const unsigned char* block, int64_t blocks, float* out) {
  for (int64_t b = 0; b < blocks; ++b, block += 34, out += kBlock) {
    const float scale = float_from_half(load_half(block));
    for (int i = 0; i < kBlock; ++i) {
      out[i] = static_cast<float>(static_cast<int8_t>(block[2 + i])) * scale;
    }
  }
}

}  // namespace

float float_from_half(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 31u;
  const uint32_t fraction = half & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent == 0) {
    // Subnormal: fraction * 2^-24, exact in float32.
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

std::optional<TensorTypeInfo> tensor_type_info(TensorType type) {
  switch (type) {
    case TensorType::f32:
      return TensorTypeInfo{"F32", 1, 4};
    case TensorType::f16:
      return TensorTypeInfo{"F16", 1, 2};
    case TensorType::q4_1:
      return TensorTypeInfo{"Q4_1", kBlock, 20};
    case TensorType::q8_0:
      return TensorTypeInfo{"Q8_0", kBlock, 34};
  }
  return std::nullopt;
}

std::string tensor_type_name(uint32_t ggml_number) {
  static constexpr std::array<const char*, 31> kNames = {
      "F32",     "F16",    "Q4_0",    "Q4_1",  "",       "",      "Q5_0",  "Q5_1",
      "Q8_0",    "Q8_1",   "Q2_K",    "Q3_K",  "Q4_K",   "Q5_K",  "Q6_K",  "Q8_K",
      "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS",
      "I8",      "I16",    "I32",     "I64",   "F64",    "IQ1_M", "BF16"};
  if (ggml_number < kNames.size() && *kNames[ggml_number] != '\0') return kNames[ggml_number];
  return "type " + std::to_string(ggml_number);
}

void dequantize(TensorType type, const void* source, int64_t elements, float* destination) {
  const auto* bytes = static_cast<const unsigned char*>(source);
  switch (type) {
    case TensorType::f32:
      std::memcpy(destination, source, static_cast<size_t>(elements) * sizeof(float));
      return;
    case TensorType::f16:
      for (int64_t i = 0; i < elements; ++i)
        destination[i] = float_from_half(load_half(bytes + 2 * i));
      return;
    case TensorType::q4_1:
      dequantize_q4_1(bytes, elements / kBlock, destination);
      return;
    case TensorType::q8_0:
      dequantize_q8_0(bytes, elements / kBlock, destination);
      return;
  }
}

}  // namespace qfs::checkpoints
