// Storage types of checkpoint tensors: names, block geometry, and their conversion to float32.
//
// Used by the readers of GGUF and safetensors and by loaders of weights. Pure functions;
// thread-safe. Products and sums are rounded one by one in float32, so that values equal those of
// the gguf Python package bit for bit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace qfs::checkpoints {

/// Numbers below 1000 are ggml's; the others belong to types that only safetensors has.
enum class TensorType : uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q8_0 = 8,
  q4_k = 12,
  q6_k = 14,
  i8 = 24,
  i16 = 25,
  i32 = 26,
  i64 = 27,
  f64 = 28,
  bf16 = 30,
  boolean = 1000,
  u8 = 1001,
  u16 = 1002,
  u32 = 1003,
  u64 = 1004,
  f8_e4m3 = 1005,
  f8_e5m2 = 1006,
};

struct TensorTypeInfo {
  const char* name;
  int64_t block_elements;
  int64_t block_bytes;
  bool to_float;  ///< dequantize() converts it
};

/// Geometry of a type; std::nullopt for one that this program cannot read.
std::optional<TensorTypeInfo> tensor_type_info(TensorType type);

/// The type with this number in a GGUF file; std::nullopt for one that this program cannot read.
std::optional<TensorTypeInfo> ggml_type_info(uint32_t ggml_number);

/// The type behind a `dtype` of safetensors ("BF16", "F8_E4M3", …); std::nullopt for another.
std::optional<TensorType> safetensors_type(std::string_view dtype);

/// "Q4_K" for ggml's number 12; "type 99" for a number without a name.
std::string tensor_type_name(uint32_t number);
std::string tensor_type_name(TensorType type);

/// Converts `elements` (a multiple of the type's block) packed values at `source` to float32; the
/// type's `to_float` must be set. F64 is rounded, everything else is exact up to the products of
/// its block format (block_formats.h).
void dequantize(TensorType type, const void* source, int64_t elements, float* destination);

/// IEEE 754 binary16 to float32, exact, including subnormals, infinities and NaNs.
float float_from_half(uint16_t half);

}  // namespace qfs::checkpoints
