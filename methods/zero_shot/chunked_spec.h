// The specs of `chunk_merge` and `refine`: documents longer than a model's context, read chunk by
// chunk.
//
// Known to the driver; torch-free. Stateless and thread-safe. Their sessions are in
// session_chunk_merge.h and session_refine.h.
#pragma once

#include <string_view>
#include <vector>

#include "harness/api/method.h"
#include "methods/models/decoding/decoding_params.h"

namespace qfs::zero_shot {

/// What a merge prompt and a refine prompt hold where a cell gives none.
std::string_view default_merge_prompt();
std::string_view default_refine_prompt();

/// Every chunk is summarized, then the summaries are, in as many rounds as it takes.
class ChunkMergeSpec final : public MethodSpec {
 public:
  std::string_view name() const override { return "chunk_merge"; }
  std::string_view doc() const override;
  int version() const override { return 1; }
  std::vector<std::string> layers(const Params& params, const BackboneFacts& facts) const override;
  std::vector<ParamSpec> params() const override;
  Needs needs(const Params& params) const override;
  Status validate(const Params& params) const override;
  Status check_backbone(const Params& params, const BackboneFacts& facts) const override;
  Cost cost(const Params& params, const DatasetStats& stats) const override;
  bool seed_matters(const Params& params) const override { return decoding::may_draw(params); }
};

/// The summary of the first chunk is rewritten with each further one.
class RefineSpec final : public MethodSpec {
 public:
  std::string_view name() const override { return "refine"; }
  std::string_view doc() const override;
  int version() const override { return 1; }
  std::vector<std::string> layers(const Params& params, const BackboneFacts& facts) const override;
  std::vector<ParamSpec> params() const override;
  Needs needs(const Params& params) const override;
  Status validate(const Params& params) const override;
  Status check_backbone(const Params& params, const BackboneFacts& facts) const override;
  Cost cost(const Params& params, const DatasetStats& stats) const override;
  bool seed_matters(const Params& params) const override { return decoding::may_draw(params); }
};

}  // namespace qfs::zero_shot
