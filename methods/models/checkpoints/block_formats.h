// ggml's block formats: the values that packed blocks of weights stand for.
//
// Called by dequantize() only, with whole blocks. Pure; thread-safe. Layouts: ggml-common.h and
// ggml-quants.c of ggml; float32 operations in the order of the gguf Python package 0.19.0.
#pragma once

#include <cstdint>

namespace qfs::checkpoints {

/// Blocks of 32 (18 bytes): float16 scale d, value d * (q - 8), low nibbles first.
void dequantize_q4_0(const unsigned char* block, int64_t blocks, float* out);
/// Blocks of 32 (20 bytes): float16 scale d and minimum m, value d * q + m, low nibbles first.
void dequantize_q4_1(const unsigned char* block, int64_t blocks, float* out);
/// Blocks of 32 (34 bytes): float16 scale d, value d * q.
void dequantize_q8_0(const unsigned char* block, int64_t blocks, float* out);
/// Blocks of 256 (144 bytes): float16 d and m, eight 6-bit scales s and minima t in 12 bytes; value
/// (d * s) * q - (m * t), each 32 bytes hold two runs of 32, low nibbles first.
void dequantize_q4_k(const unsigned char* block, int64_t blocks, float* out);
/// Blocks of 256 (210 bytes): low nibbles, high bit pairs, sixteen signed 8-bit scales s, float16
/// d; value (d * s) * (q - 32).
void dequantize_q6_k(const unsigned char* block, int64_t blocks, float* out);

}  // namespace qfs::checkpoints
