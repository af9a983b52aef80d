#include "methods/models/nn/source_reading.h"

namespace qfs::nn {

at::Tensor attend_to_all(const SourceQuery& query) {
  const DecoderShape& c = query.decoder.shape();
  const at::Tensor read =
      query.decoder.source_keys_values(query.layer, query.states, query.adapters);
  const at::Tensor asking =
      query.queries.view({1, query.queries.size(0), c.heads, c.head_dim}).transpose(1, 2);
  return attention(asking, read.select(0, 0).unsqueeze(0), read.select(0, 1).unsqueeze(0), {},
                   query.dropout, query.place())
      .squeeze(0)
      .transpose(0, 1)
      .flatten(1);
}

}  // namespace qfs::nn
