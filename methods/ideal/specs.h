// The specs of `parallel_adapter`, `prompt_tuning` and `ideal`: what a backbone of the LLaMA family
// is given beside its layers and trained, with a hypernetwork in `ideal` that generates some of it
// of the instruction (Cao et al. 2024, arXiv 2407.10486).
//
// Known to the driver; torch-free. Stateless and thread-safe. The sessions are in sessions.h.
#pragma once

#include "methods/models/prompted/trained_spec.h"

namespace qfs::ideal {

/// The parameter that has biases and norms trained.
inline constexpr const char* kBiases = "w_bias";

/// What the three have alike.
class LayerAdapterSpec : public prompted::TrainedSpec {
 public:
  int version() const override { return 1; }
  /// `unavailable` but for the LLaMA family.
  Status check_backbone(const Params& params, const BackboneFacts& facts) const final;
  /// Of sizes those count that the training reads.
  Status check_init(const Params& params, const Params& recipe) const override;
};

class ParallelAdapterSpec final : public LayerAdapterSpec {
 public:
  std::string_view name() const override { return "parallel_adapter"; }
  std::string_view doc() const override;

 protected:
  std::vector<ParamSpec> adapter_params() const override;
  Status check_adapter(const Params&) const override { return {}; }
};

class PromptTuningSpec final : public LayerAdapterSpec {
 public:
  std::string_view name() const override { return "prompt_tuning"; }
  std::string_view doc() const override;

 protected:
  std::vector<ParamSpec> adapter_params() const override;
  Status check_adapter(const Params&) const override { return {}; }
};

class IdealSpec final : public LayerAdapterSpec {
 public:
  std::string_view name() const override { return "ideal"; }
  std::string_view doc() const override;
  int version() const override { return 2; }
  Needs needs(const Params& params) const override;
  Status check_init(const Params& params, const Params& recipe) const override;
  /// What is left out is as the preset of the file has it.
  Status check_file(const Params& params, const Params& recipe) const override;

 protected:
  std::vector<ParamSpec> adapter_params() const override;
  /// The request in front of the document, so that what is pooled is the same for all documents.
  std::string default_prompt() const override;
  Status check_adapter(const Params& params) const override;

 private:
  /// What the kind of adapter, or a control without a hypernetwork, does not read is refused.
  Status check_read(const Params& params) const;
};

}  // namespace qfs::ideal
