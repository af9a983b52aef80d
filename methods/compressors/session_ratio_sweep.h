// SelfCP at several ratios from one pass over each segment: by causality the memory of a ratio is
// the beginning of that of a smaller one. Passes are kept for the sessions that a host opens one
// after the other.
//
// Made by sessions of `selfcp` with `pass_ratio`. Not thread-safe. Rows are those of a pass of
// their own up to last bits.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "methods/compressors/session_selfcp.h"

namespace qfs::compressors {

/// Memory [rows, hidden] by what was read for it.
using KeptPasses = std::map<std::string, at::Tensor>;

class SweptSelfcp final : public Compressor {
 public:
  /// `passes`: of the same tensors, backbone, device and ratio.
  SweptSelfcp(std::shared_ptr<const Selfcp> inner, double pass_ratio, Rounding rounding,
              std::shared_ptr<KeptPasses> passes)
      : inner_(std::move(inner)),
        pass_ratio_(pass_ratio),
        rounding_(rounding),
        passes_(std::move(passes)) {}

  Result<Plan> plan(const PromptParts& parts) const override { return inner_->plan(parts); }
  /// The work that is told is that of passes of their own. Errors as Selfcp::compress.
  Result<std::vector<Compressed>> compress(std::span<const CompressionTask> tasks) const override;
  int32_t placeholder() const override { return inner_->placeholder(); }

 private:
  std::shared_ptr<const Selfcp> inner_;
  double pass_ratio_;
  Rounding rounding_;
  std::shared_ptr<KeptPasses> passes_;
};

}  // namespace qfs::compressors
