#include "methods/models/checkpoints/tensor_types.h"

#include <array>
#include <bit>
#include <cstring>

#include "methods/models/checkpoints/block_formats.h"

namespace qfs::checkpoints {

namespace {

constexpr uint32_t kFirstForeignNumber = 1000;

uint16_t load_16(const unsigned char* bytes) {
  return static_cast<uint16_t>(bytes[0] | (bytes[1] << 8));
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
      return TensorTypeInfo{"F32", 1, 4, true};
    case TensorType::f16:
      return TensorTypeInfo{"F16", 1, 2, true};
    case TensorType::bf16:
      return TensorTypeInfo{"BF16", 1, 2, true};
    case TensorType::f64:
      return TensorTypeInfo{"F64", 1, 8, true};
    case TensorType::q4_0:
      return TensorTypeInfo{"Q4_0", 32, 18, true};
    case TensorType::q4_1:
      return TensorTypeInfo{"Q4_1", 32, 20, true};
    case TensorType::q8_0:
      return TensorTypeInfo{"Q8_0", 32, 34, true};
    case TensorType::q4_k:
      return TensorTypeInfo{"Q4_K", 256, 144, true};
    case TensorType::q6_k:
      return TensorTypeInfo{"Q6_K", 256, 210, true};
    case TensorType::i8:
      return TensorTypeInfo{"I8", 1, 1, false};
    case TensorType::i16:
      return TensorTypeInfo{"I16", 1, 2, false};
    case TensorType::i32:
      return TensorTypeInfo{"I32", 1, 4, false};
    case TensorType::i64:
      return TensorTypeInfo{"I64", 1, 8, false};
    case TensorType::boolean:
      return TensorTypeInfo{"BOOL", 1, 1, false};
    case TensorType::u8:
      return TensorTypeInfo{"U8", 1, 1, false};
    case TensorType::u16:
      return TensorTypeInfo{"U16", 1, 2, false};
    case TensorType::u32:
      return TensorTypeInfo{"U32", 1, 4, false};
    case TensorType::u64:
      return TensorTypeInfo{"U64", 1, 8, false};
    case TensorType::f8_e4m3:
      return TensorTypeInfo{"F8_E4M3", 1, 1, false};
    case TensorType::f8_e5m2:
      return TensorTypeInfo{"F8_E5M2", 1, 1, false};
  }
  return std::nullopt;
}

std::optional<TensorTypeInfo> ggml_type_info(uint32_t ggml_number) {
  if (ggml_number >= kFirstForeignNumber) return std::nullopt;
  return tensor_type_info(static_cast<TensorType>(ggml_number));
}

std::optional<TensorType> safetensors_type(std::string_view dtype) {
  for (const TensorType type :
       {TensorType::f32, TensorType::f16, TensorType::bf16, TensorType::f64, TensorType::i8,
        TensorType::i16, TensorType::i32, TensorType::i64, TensorType::boolean, TensorType::u8,
        TensorType::u16, TensorType::u32, TensorType::u64, TensorType::f8_e4m3,
        TensorType::f8_e5m2}) {
    if (tensor_type_info(type)->name == dtype) return type;
  }
  return std::nullopt;
}

std::string tensor_type_name(uint32_t number) {
  static constexpr std::array<const char*, 31> kNames = {
      "F32",     "F16",    "Q4_0",    "Q4_1",  "",       "",      "Q5_0",  "Q5_1",
      "Q8_0",    "Q8_1",   "Q2_K",    "Q3_K",  "Q4_K",   "Q5_K",  "Q6_K",  "Q8_K",
      "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS",
      "I8",      "I16",    "I32",     "I64",   "F64",    "IQ1_M", "BF16"};
  if (number < kNames.size() && *kNames[number] != '\0') return kNames[number];
  if (const auto info = tensor_type_info(static_cast<TensorType>(number))) return info->name;
  return "type " + std::to_string(number);
}

std::string tensor_type_name(TensorType type) {
  return tensor_type_name(static_cast<uint32_t>(type));
}

void dequantize(TensorType type, const void* source, int64_t elements, float* destination) {
  const auto* bytes = static_cast<const unsigned char*>(source);
  switch (type) {
    case TensorType::f32:
      std::memcpy(destination, source, static_cast<size_t>(elements) * sizeof(float));
      return;
    case TensorType::f16:
      for (int64_t i = 0; i < elements; ++i)
        destination[i] = float_from_half(load_16(bytes + 2 * i));
      return;
    case TensorType::bf16:
      for (int64_t i = 0; i < elements; ++i)
        destination[i] = std::bit_cast<float>(uint32_t{load_16(bytes + 2 * i)} << 16);
      return;
    case TensorType::f64:
      for (int64_t i = 0; i < elements; ++i) {
        double value = 0;
        std::memcpy(&value, bytes + 8 * i, sizeof(value));
        destination[i] = static_cast<float>(value);
      }
      return;
    case TensorType::q4_0:
      return dequantize_q4_0(bytes, elements / 32, destination);
    case TensorType::q4_1:
      return dequantize_q4_1(bytes, elements / 32, destination);
    case TensorType::q8_0:
      return dequantize_q8_0(bytes, elements / 32, destination);
    case TensorType::q4_k:
      return dequantize_q4_k(bytes, elements / 256, destination);
    case TensorType::q6_k:
      return dequantize_q6_k(bytes, elements / 256, destination);
    default:
      return;  // to_float is not set: callers have refused it
  }
}

}  // namespace qfs::checkpoints
