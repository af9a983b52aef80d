#include "metrics/text/token_block.h"

#include "metrics/text/tokens.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace qfs::metrics {
namespace {

constexpr unsigned char kDottedIFirst = 0xC4;  // U+0130 is C4 B0
constexpr unsigned char kKelvinSecond =
    0x84;  // U+212A is E2 84 AA; E2 alone begins every curly quote

}  // namespace

#if defined(__SSE2__)

TokenBlock token_block(const char* data) {
  const auto mask = [](__m128i bytes) {
    return static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(bytes)));
  };
  const auto equal = [](__m128i bytes, unsigned char to) {
    return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(static_cast<char>(to)));
  };
  /// first <= byte <= first + span, unsigned.
  const auto within = [](__m128i bytes, char first, char span) {
    const __m128i offset = _mm_sub_epi8(bytes, _mm_set1_epi8(first));
    return _mm_cmpeq_epi8(_mm_min_epu8(offset, _mm_set1_epi8(span)), offset);
  };
  TokenBlock block;
  for (unsigned part = 0; part < kBlockBytes; part += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + part));
    const __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    block.token |= mask(_mm_or_si128(within(lower, 'a', 25), within(bytes, '0', 9))) << part;
    block.newline |= mask(equal(bytes, '\n')) << part;
    block.unusual |= mask(_mm_or_si128(equal(bytes, kDottedIFirst), equal(bytes, kKelvinSecond)))
                     << part;
  }
  return block;
}

#else

TokenBlock token_block(const char* data) {
  TokenBlock block;
  for (unsigned i = 0; i < kBlockBytes; ++i) {
    const auto byte = static_cast<unsigned char>(data[i]);
    block.token |= uint64_t{kTokenCharacters[byte] != 0} << i;
    block.newline |= uint64_t{byte == '\n'} << i;
    block.unusual |= uint64_t{byte == kDottedIFirst || byte == kKelvinSecond} << i;
  }
  return block;
}

#endif

}  // namespace qfs::metrics
