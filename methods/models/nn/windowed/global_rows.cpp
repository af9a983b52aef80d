#include "methods/models/nn/windowed/global_rows.h"

namespace qfs::nn {

at::Tensor global_rows(const GlobalProjections& projections, const at::Tensor& states,
                       const at::Tensor& global, int64_t heads, const Adapters* adapters,
                       const Dropout* dropout, uint64_t place) {
  const int64_t dim = projections.query.weight.size(0) / heads;
  const at::Tensor queries = adapted(projections.query, states.index_select(1, global), adapters)
                                 .view({1, global.size(0), heads, dim})
                                 .transpose(1, 2);
  const at::Tensor key_value = adapted(projections.key_value, states, adapters)
                                   .view({1, states.size(1), 2, heads, dim})
                                   .permute({2, 0, 3, 1, 4});
  return attention(queries, key_value.select(0, 0), key_value.select(0, 1), {}, dropout, place);
}

}  // namespace qfs::nn
