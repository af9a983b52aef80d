#include "methods/models/nn/windowed/flash_windows.h"

#include <algorithm>
#include <string>

#include "methods/models/nn/runtime/device_runtime.h"

namespace qfs::backbones {

namespace {

std::string needed(const char* what) {
  return std::string("windows by flash attention need ").append(what);
}

}  // namespace

Status check_flash_encoder(std::span<const Window> windows, int64_t head_dim) {
  if (windows.empty()) {
    return invalid_argument(needed("an encoder with windows, which this one is not"));
  }
  if (std::ranges::any_of(windows, &Window::blocks)) {
    return invalid_argument(needed("bands; those of this encoder are blocks without overlap"));
  }
  if (head_dim % 8 != 0 || head_dim > 256) {
    return invalid_argument(
        needed("heads whose width is a multiple of 8 up to 256; this encoder's is ") +
        std::to_string(head_dim));
  }
  return {};
}

Status check_flash_capability(int major, int minor) {
  if (major >= 8) return {};
  return unavailable(needed("a GPU of compute capability 8.0 or higher; this one has ") +
                     std::to_string(major) + "." + std::to_string(minor));
}

Status check_flash_device(const RuntimeOptions& runtime) {
  if (runtime.device != "cuda") {
    return unavailable(needed("a GPU; the device is '") + runtime.device + "'");
  }
  if (runtime.dtype != "bfloat16" && runtime.dtype != "float16") {
    return unavailable(needed("bfloat16 or float16; the dtype is '") + runtime.dtype + "'");
  }
  const auto facts = device_facts();
  if (!facts.ok()) return facts.error();
  return check_flash_capability(facts->capability_major, facts->capability_minor);
}

}  // namespace qfs::backbones
