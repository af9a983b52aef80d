#include "methods/kernels/cpu_kernels.h"

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

const CpuKernels& cpu_kernels() {
  static const CpuKernels& chosen = [&]() -> const CpuKernels& {
    const char* wanted = std::getenv("QFS_CPU_KERNELS");
    const bool portable = wanted != nullptr && std::string_view(wanted) == "portable";
    return has_avx2() && !portable ? avx2_kernels() : portable_kernels();
  }();
  return chosen;
}

}  // namespace qfs::kernels
