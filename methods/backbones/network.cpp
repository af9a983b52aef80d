#include "methods/backbones/network.h"

namespace qfs::backbones {

Result<std::shared_ptr<const Network>> Network::windowed(int64_t, int64_t) const {
  return invalid_argument("'window' is for BART backbones, which this one is not");
}

}  // namespace qfs::backbones
