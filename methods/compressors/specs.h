// The specs of the methods that compress a part of a document before a generator reads it.
//
// Known to the driver; torch-free. Stateless and thread-safe. The sessions are in sessions.h.
#pragma once

#include "methods/compressors/demonstrations.h"
#include "methods/compressors/params.h"
#include "methods/models/prompted/trained_spec.h"

namespace qfs::compressors {

/// Role of the model whose losses choose tokens, where that is not the backbone.
inline constexpr const char* kSmallLm = "small_lm";
/// The method whose bank of demonstrations others may read.
inline constexpr const char* kFewShot = "few_shot";

/// What methods that train a compressor have alike.
class TrainedCompressorSpec : public prompted::TrainedSpec {
 public:
  std::vector<std::string> layers(const Params& params, const BackboneFacts& facts) const final;
  /// `unavailable` but for the LLaMA family.
  Status check_backbone(const Params& params, const BackboneFacts& facts) const override;
  /// A bank alone is of a trained file, and has as many demonstrations as are shown.
  Status check_training(const Params& params, const TrainingFacts& facts) const final;
  Status check_example(const Params&, const Example& example) const final {
    return check_query(example);
  }
  /// Of a bank alone that of its demonstrations.
  Cost training_cost(const Params& params, const DatasetStats& train) const final;

 protected:
  /// The request in front of the document, so that it is part of what each segment is read behind.
  std::string default_prompt() const final;
  /// Rules of both, with demonstrations.
  Status check_compressor(const Params& params) const;
  /// Parameters of a training that makes a bank alone: what it keeps, and of what it is.
  virtual std::vector<std::string_view> of_banks() const = 0;
};

/// `selfcp`: a frozen language model, a learned tag and a connector (Gao et al. 2024, arXiv
/// 2405.17052).
class SelfcpSpec final : public TrainedCompressorSpec {
 public:
  std::string_view name() const override { return "selfcp"; }
  std::string_view doc() const override;
  int version() const override { return 2; }
  Status check_backbone(const Params& params, const BackboneFacts& facts) const override;
  /// A bank is shown as it was made, and at no smaller ratio.
  Status check_file(const Params& params, const Params& recipe) const override;
  Needs needs(const Params& params) const override;
  bool seed_matters(const Params& params) const override;

 protected:
  std::vector<ParamSpec> adapter_params() const override;
  Status check_adapter(const Params& params) const override;
  std::vector<std::string_view> of_banks() const override;
};

/// What methods with low-rank adapters and trained rows have alike.
class LoraCompressorSpec : public TrainedCompressorSpec {
 public:
  int version() const override { return 2; }
  Status check_backbone(const Params& params, const BackboneFacts& facts) const final;
  /// What is begun with has as many rows.
  Status check_init(const Params& params, const Params& recipe) const final;
  /// The file has as many rows as a window takes, and a bank is shown as it was made.
  Status check_file(const Params& params, const Params& recipe) const final;
  Needs needs(const Params& params) const final;
  bool seed_matters(const Params& params) const final;
  /// The parameter of their number.
  virtual const char* rows_param() const = 0;

 protected:
  /// Tokens of a window that holds one of a text.
  virtual int64_t least_window() const { return 1; }
  /// Rows of what these parameters train.
  int64_t rows_of(const Params& recipe) const;
  Status check_adapter(const Params& params) const final;
  std::vector<std::string_view> of_banks() const final;
};

/// `autocompressor`: summaries of segments gather in front of a prompt (Chevalier et al. 2023).
class AutocompressorSpec final : public LoraCompressorSpec {
 public:
  int version() const override { return 3; }
  std::string_view name() const override { return "autocompressor"; }
  std::string_view doc() const override;
  const char* rows_param() const override { return kSummaryLength; }

 protected:
  std::vector<ParamSpec> adapter_params() const override;
};

/// `icae`: slots hold the beginning of a document (Ge et al. 2024).
class IcaeSpec final : public LoraCompressorSpec {
 public:
  std::string_view name() const override { return "icae"; }
  std::string_view doc() const override;
  const char* rows_param() const override { return kMemSize; }

 protected:
  int64_t least_window() const override { return 2; }
  std::vector<ParamSpec> adapter_params() const override;
};

/// What methods that train nothing have alike; with a `bank` their training cell keeps
/// demonstrations.
class UntrainedSpec : public MethodSpec, public ModelRules {
 public:
  int version() const override { return 1; }
  std::vector<std::string> layers(const Params& params, const BackboneFacts& facts) const final;
  std::vector<ParamSpec> params() const final;
  Needs needs(const Params& params) const override;
  std::vector<Unit> units(const Params& params,
                          std::span<const NumberedExample> examples) const final;
  Status validate(const Params& params) const override;
  /// `unavailable` but for the LLaMA family.
  Status check_backbone(const Params& params, const BackboneFacts& facts) const final;
  Status check_training(const Params& params, const TrainingFacts& facts) const final {
    return check_bank_data(params, facts);
  }
  Status check_example(const Params&, const Example& example) const final {
    return check_query(example);
  }
  Status check_model(const Params&, const std::string&, const Resource&) const final { return {}; }
  /// A bank is shown as it was made.
  Status check_file(const Params& params, const Params& recipe) const final;
  bool may_differ(std::string_view) const final { return false; }
  Cost cost(const Params& params, const DatasetStats& stats) const final;
  bool seed_matters(const Params& params) const final;

 protected:
  /// Besides those of prompting and of demonstrations.
  virtual std::vector<ParamSpec> reading_params() const { return {}; }
};

/// `few_shot`: demonstrations and documents are read as they are (in-context learning).
class FewShotSpec final : public UntrainedSpec {
 public:
  std::string_view name() const override { return kFewShot; }
  std::string_view doc() const override;
};

/// `llmlingua`: tokens that a language model foresees are left out (Jiang et al. 2023).
class LlmlinguaSpec final : public UntrainedSpec {
 public:
  int version() const override { return 2; }
  std::string_view name() const override { return "llmlingua"; }
  std::string_view doc() const override;
  Needs needs(const Params& params) const override;
  Status validate(const Params& params) const override;

 protected:
  std::vector<ParamSpec> reading_params() const override;
};

}  // namespace qfs::compressors
