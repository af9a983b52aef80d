#include "methods/models/nn/network.h"

namespace qfs::backbones {

ElementBytes Network::element_bytes(const RuntimeOptions& runtime) const {
  const bool float32 = runtime.dtype == "float32";
  if (runtime.device == "cpu" && float32) return {};
  const int64_t bytes = float32 ? 4 : 2;
  return {bytes, bytes};
}

Result<std::shared_ptr<const Network>> Network::windowed(int64_t, int64_t) const {
  return invalid_argument("'window' is for BART backbones, which this one is not");
}

Result<std::shared_ptr<const Network>> Network::with_flash_windows() const {
  return invalid_argument(
      "windows by flash attention are for LED's encoders, and this backbone has none");
}

}  // namespace qfs::backbones
