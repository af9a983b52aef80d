#include "methods/models/nn/runtime/torch_runtime.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/headeronly/version.h>
#include <unicode/uvernum.h>

#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "harness/core/json_dom.h"
#include "methods/models/kernels/cpu_kernels.h"
#include "methods/models/kernels/thread_pool.h"
#include "methods/models/nn/runtime/device_runtime.h"
#include "methods/models/nn/runtime/tensor_arena.h"

namespace qfs::nn {

Status configure_torch(const RuntimeOptions& runtime) {
  if (runtime.threads < 1 || runtime.threads > 1024) {
    return invalid_argument("threads is " + std::to_string(runtime.threads) + ", outside 1..1024");
  }
  if (runtime.device == "cuda") {
    if (Status status = configure_cuda(runtime); !status.ok()) return status;
  } else if (runtime.device != "cpu") {
    return invalid_argument("unknown device '" + runtime.device + "'; valid: cpu, cuda");
  } else if (runtime.dtype != "float32" && runtime.dtype != "bfloat16") {
    return unavailable("dtype '" + runtime.dtype +
                       "' is not available on a CPU (float32 and bfloat16 are)");
  }
  return guarded("configuring LibTorch", [&]() -> Status {
    use_tensor_arena();
    at::set_num_threads(runtime.threads);
    at::globalContext().setDeterministicAlgorithms(true, false);
    // LibTorch would otherwise write every fresh tensor once to make reading it deterministic;
    // nothing here reads one before writing it.
    at::globalContext().setDeterministicFillUninitializedMemory(false);
    return {};
  });
}

Result<TorchFacts> probe_torch(const RuntimeOptions& runtime) {
  if (Status status = configure_torch(runtime); !status.ok()) return status.error();
  nlohmann::json numerics;
  numerics["device"] = runtime.device;
  numerics["dtype"] = runtime.dtype;
  numerics["threads"] = at::get_num_threads();
  numerics["deterministic"] = at::globalContext().deterministicAlgorithms();
  numerics["libtorch"] = std::to_string(TORCH_VERSION_MAJOR) + "." +
                         std::to_string(TORCH_VERSION_MINOR) + "." +
                         std::to_string(TORCH_VERSION_PATCH);
  numerics["cpu_capability"] = at::get_cpu_capability();
  numerics["cpu_kernels"] = kernels::cpu_kernels().instruction_set;
  numerics["icu"] = U_ICU_VERSION;
  // Training may compute in bfloat16 whatever the type of the host is.
  const bool products = kernels::has_bfloat16_products();
  if (runtime.device == "cpu" && (runtime.dtype == "bfloat16" || !products)) {
    numerics["bfloat16_products"] = products;
  }
  nlohmann::json details;
  details["mkl"] = at::get_mkl_version();
  details["openmp"] = at::get_openmp_version();
  if (runtime.device != "cpu") {
    if (Status added = add_cuda_facts(numerics, details); !added.ok()) return added.error();
  }
  const Result<Json> numerics_json = canonical_json(numerics);
  if (!numerics_json.ok()) return numerics_json.error();
  const Result<Json> details_json = canonical_json(details);
  if (!details_json.ok()) return details_json.error();
  return TorchFacts{*numerics_json, *details_json};
}

void for_items(int64_t count, const std::function<void(int64_t)>& body) {
  static std::mutex turns;
  static std::optional<kernels::ThreadPool> pool;
  const std::lock_guard turn(turns);
  if (!pool || pool->threads() != at::get_num_threads()) pool.emplace(at::get_num_threads());
  pool->for_items(count, [&](int64_t index) { body(index); });
}

Error caught_torch_error(std::string_view doing) {
  const auto said = [&](const char* reason) {
    const std::string_view text(reason);
    return std::string(doing).append(": ").append(text.substr(0, text.find('\n')));
  };
  try {
    throw;
  } catch (const c10::OutOfMemoryError& error) {
    return out_of_memory(said(error.what_without_backtrace()));
  } catch (const c10::Error& error) {
    const std::string message = said(error.what_without_backtrace());
    // The CPU allocator has no exception type of its own, nor has what CUDA itself allocates.
    for (const char* words : {"can't allocate memory", "CUDA error: out of memory"}) {
      if (message.find(words) != std::string::npos) return out_of_memory(message);
    }
    return internal_error(message);
  } catch (const std::bad_alloc&) {
    return out_of_memory(said("the system has no memory left"));
  } catch (const std::exception& error) {
    return internal_error(said(error.what()));
  } catch (...) {
    return internal_error(said("unknown exception"));
  }
}

}  // namespace qfs::nn
