#include "methods/models/kernels/cpu_kernels.h"

#include <cstdlib>
#include <string_view>

namespace qfs::kernels {

bool has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("f16c") != 0;
#else
  return false;
#endif
}

bool has_avx512() {
#if defined(__x86_64__)
  return has_avx2() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0;
#else
  return false;
#endif
}

namespace {

/// QFS_CPU_KERNELS; empty when it is not set.
std::string_view held_back() {
  const char* wanted = std::getenv("QFS_CPU_KERNELS");
  return wanted != nullptr ? wanted : "";
}

}  // namespace

const CpuKernels& cpu_kernels() {
  static const CpuKernels& chosen = [&]() -> const CpuKernels& {
    if (held_back() == "portable" || !has_avx2()) return portable_kernels();
    return has_avx512() && held_back() != "avx2" ? avx512_kernels() : avx2_kernels();
  }();
  return chosen;
}

bool has_bfloat16_products() {
#if defined(__x86_64__)
  return held_back().empty() && (__builtin_cpu_supports("avx512bf16") != 0);
#else
  return false;
#endif
}

}  // namespace qfs::kernels
