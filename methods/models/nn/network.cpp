#include "methods/models/nn/network.h"

namespace qfs::nn {

Result<std::shared_ptr<const Decoder>> Network::reader(const RuntimeOptions& runtime,
                                                       const std::string& digest,
                                                       ResourceCache& cache) const {
  return decoder(runtime, digest, cache);
}

ElementBytes Network::element_bytes(const RuntimeOptions& runtime) const {
  const bool float32 = runtime.dtype == "float32";
  if (runtime.device == "cpu" && float32) return {};
  const int64_t bytes = float32 ? 4 : 2;
  return {bytes, bytes};
}

Result<std::shared_ptr<const Network>> Network::windowed(int64_t, int64_t) const {
  return invalid_argument("'window' is for BART backbones, which this one is not");
}

Result<std::shared_ptr<const Network>> Network::extended(int64_t) const {
  return invalid_argument(
      "'positions' are for backbones with rotary embeddings; this one's positions are learned");
}

}  // namespace qfs::nn
