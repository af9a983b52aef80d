#include "methods/models/nn/sequence_model.h"

namespace qfs::backbones {

Status SequenceModel::decode_draw(std::span<const int64_t>, std::span<const int32_t>,
                                  const DrawRule&, std::span<const double>, std::span<int32_t>) {
  return internal_error("this model draws no tokens");
}

}  // namespace qfs::backbones
