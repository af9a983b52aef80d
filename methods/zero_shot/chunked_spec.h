// The specs of `chunk_merge` and `refine`: documents longer than a model's context, read chunk by
// chunk.
//
// Known to the driver; torch-free. Stateless and thread-safe. Their sessions are in
// session_chunks.h.
#pragma once

#include <string_view>
#include <vector>

#include "harness/api/method.h"
#include "methods/models/decoding/decoding_params.h"

namespace qfs::zero_shot {

/// What both have in common.
class ChunkedSpec : public MethodSpec {
 public:
  std::vector<std::string> layers(const Params& params, const BackboneFacts& facts) const final;
  Needs needs(const Params& params) const final;
  Status check_backbone(const Params& params, const BackboneFacts& facts) const final;
  bool seed_matters(const Params& params) const final { return decoding::may_draw(params); }
};

/// Every chunk is summarized, then the summaries are, in as many rounds as it takes.
class ChunkMergeSpec final : public ChunkedSpec {
 public:
  std::string_view name() const override { return "chunk_merge"; }
  std::string_view doc() const override;
  int version() const override { return 1; }
  std::vector<ParamSpec> params() const override;
  Status validate(const Params& params) const override;
  Cost cost(const Params& params, const DatasetStats& stats) const override;
};

/// The summary of the first chunk is rewritten with each further one.
class RefineSpec final : public ChunkedSpec {
 public:
  std::string_view name() const override { return "refine"; }
  std::string_view doc() const override;
  int version() const override { return 1; }
  std::vector<ParamSpec> params() const override;
  Status validate(const Params& params) const override;
  Cost cost(const Params& params, const DatasetStats& stats) const override;
};

}  // namespace qfs::zero_shot
