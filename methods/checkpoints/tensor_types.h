// Storage types of checkpoint tensors: names, block geometry, and their conversion to float32.
//
// Used by the GGUF reader. Pure functions; thread-safe. Products and sums are rounded one by one in
// float32, so that values equal those of the gguf Python package bit for bit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace qfs::checkpoints {

/// ggml's numbers of the types that this program reads.
enum class TensorType : uint32_t { f32 = 0, f16 = 1, q4_1 = 3, q8_0 = 8 };

struct TensorTypeInfo {
  const char* name;
  int64_t block_elements;
  int64_t block_bytes;
};

/// Geometry of a type; std::nullopt for one that this program cannot read.
std::optional<TensorTypeInfo> tensor_type_info(TensorType type);

/// "Q4_K" for ggml's number 12; "type 99" for a number without a name.
std::string tensor_type_name(uint32_t ggml_number);

/// Converts `elements` (a multiple of the type's block) packed values at `source` to float32.
/// Q4_1: blocks of 32, float16 scale d and minimum m, value = d * q + m, low nibbles first.
/// Q8_0: blocks of 32, float16 scale d, value = d * q.
void dequantize(TensorType type, const void* source, int64_t elements, float* destination);

/// IEEE 754 binary16 to float32, exact, including subnormals, infinities and NaNs.
float float_from_half(uint16_t half);

}  // namespace qfs::checkpoints
