#include "methods/models/checkpoints/block_formats.h"

#include "methods/models/checkpoints/tensor_types.h"

namespace qfs::checkpoints {

namespace {

constexpr int kBlock = 32;
constexpr int kSuperBlock = 256;

float load_half(const unsigned char* bytes) {
  return float_from_half(static_cast<uint16_t>(bytes[0] | (bytes[1] << 8)));
}

struct ScaleAndMinimum {
  int scale;
  int minimum;
};

/// The 6-bit pair `index` of the 12 bytes of a Q4_K block: the first four lie in the low six bits
/// of bytes 0-3 and 4-7, the last four have their low nibble in bytes 8-11 and their top bits
/// above.
ScaleAndMinimum q4_k_pair(const unsigned char* packed, int index) {
  if (index < 4) return {packed[index] & 63, packed[4 + index] & 63};
  const int low = packed[4 + index];
  return {(low & 15) | ((packed[index - 4] >> 2) & 48), (low >> 4) | ((packed[index] >> 2) & 48)};
}

}  // namespace

void dequantize_q4_0(const unsigned char* block, int64_t blocks, float* out) {
  for (int64_t b = 0; b < blocks; ++b, block += 18, out += kBlock) {
    const float scale = load_half(block);
    for (int i = 0; i < kBlock / 2; ++i) {
      const int packed = block[2 + i];
      out[i] = scale * static_cast<float>((packed & 15) - 8);
      out[i + kBlock / 2] = scale * static_cast<float>((packed >> 4) - 8);
    }
  }
}

void dequantize_q4_1(const unsigned char* block, int64_t blocks, float* out) {
  for (int64_t b = 0; b < blocks; ++b, block += 20, out += kBlock) {
    const float scale = load_half(block);
    const float minimum = load_half(block + 2);
    for (int i = 0; i < kBlock / 2; ++i) {
      const int packed = block[4 + i];
      out[i] = static_cast<float>(packed & 15) * scale + minimum;
      out[i + kBlock / 2] = static_cast<float>(packed >> 4) * scale + minimum;
    }
  }
}

void dequantize_q8_0(const unsigned char* block, int64_t blocks, float* out) {
  for (int64_t b = 0; b < blocks; ++b, block += 34, out += kBlock) {
    const float scale = load_half(block);
    for (int i = 0; i < kBlock; ++i) {
      out[i] = static_cast<float>(static_cast<int8_t>(block[2 + i])) * scale;
    }
  }
}

void dequantize_q4_k(const unsigned char* block, int64_t blocks, float* out) {
  for (int64_t b = 0; b < blocks; ++b, block += 144) {
    const float scale = load_half(block);
    const float minimum = load_half(block + 2);
    for (int run = 0; run < kSuperBlock / kBlock; ++run, out += kBlock) {
      const ScaleAndMinimum pair = q4_k_pair(block + 4, run);
      const float d = scale * static_cast<float>(pair.scale);
      const float m = minimum * static_cast<float>(pair.minimum);
      const unsigned char* packed = block + 16 + run / 2 * kBlock;
      const int shift = run % 2 * 4;
      for (int i = 0; i < kBlock; ++i) {
        out[i] = d * static_cast<float>((packed[i] >> shift) & 15) - m;
      }
    }
  }
}

void dequantize_q6_k(const unsigned char* block, int64_t blocks, float* out) {
  for (int64_t b = 0; b < blocks; ++b, block += 210) {
    const unsigned char* high = block + 128;
    const auto* scales = reinterpret_cast<const signed char*>(block + 192);
    const float scale = load_half(block + 208);
    for (int run = 0; run < kSuperBlock / kBlock; ++run, out += kBlock) {
      const int half = run / 4;
      const int part = run % 4;
      const unsigned char* low = block + half * 64 + part % 2 * kBlock;
      for (int i = 0; i < kBlock; ++i) {
        const int nibble = (low[i] >> (part / 2 * 4)) & 15;
        const int top = (high[half * kBlock + i] >> (2 * part)) & 3;
        const float d = scale * static_cast<float>(scales[run * 2 + i / 16]);
        out[i] = d * static_cast<float>((nibble | (top << 4)) - 32);
      }
    }
  }
}

}  // namespace qfs::checkpoints
