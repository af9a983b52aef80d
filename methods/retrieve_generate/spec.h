// The spec of `retrieve_generate`: a language model that reads the passages of a document that
// match the query (BART + DPR of SQuALITY, and any backbone), as it is, with a low-rank adapter, or
// trained whole.
//
// Known to the driver; torch-free. Stateless and thread-safe. The sessions are in session.h.
#pragma once

#include "methods/models/prompted/trained_spec.h"

namespace qfs::retrieve_generate {

/// Roles of the models that DPR compares texts with.
inline constexpr const char* kQuestionEncoder = "question_encoder";
inline constexpr const char* kContextEncoder = "context_encoder";

class RetrieveGenerateSpec final : public prompted::TrainedSpec {
 public:
  std::string_view name() const override { return "retrieve_generate"; }
  std::string_view doc() const override;
  int version() const override { return 1; }
  std::vector<std::string> layers(const Params& params, const BackboneFacts& facts) const override;
  Needs needs(const Params& params) const override;
  Status check_example(const Params& params, const Example& example) const override;

 protected:
  std::vector<ParamSpec> adapter_params() const override;
  Status check_adapter(const Params& params) const override;
};

/// Whether what is read is in a file of spans.
bool reads_spans(const Params& params);
/// Whether a trained locator ranks turns.
bool ranks_by_locator(const Params& params);

}  // namespace qfs::retrieve_generate
