#include "methods/finetune/spec.h"

namespace qfs::finetune {

std::string_view FinetuneSpec::doc() const {
  return "A language model all of whose weights learned to summarize from examples";
}

Status FinetuneSpec::check_adapter(const Params& params) const {
  return prompted::check_trained_weights(params);
}

}  // namespace qfs::finetune
