// The session that chooses one of some labels in place of a summary: that by which the filled
// template of a demonstration has the least perplexity, behind the demonstrations of a bank where
// there are any (Gao et al. 2024, section 4.4: CoLA).
//
// Opened by sessions.h. Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "methods/compressors/session_demonstrations.h"
#include "methods/models/nn/decoder.h"
#include "methods/models/prompted/prompted_model.h"

namespace qfs::compressors {

struct LabelParts {
  prompted::Prompts prompts;
  std::shared_ptr<const nn::Decoder> reader;
  std::shared_ptr<const Compressor> compressor;
  std::shared_ptr<const Demonstrations> demonstrations = nullptr;  ///< or none
  std::string text;                                                ///< the template
  std::vector<std::string> labels;                                 ///< ties are the earlier one's
  bool full = false;  ///< perplexity is of the whole text, not of the label
};

/// Errors: those of opening_of and of binding the compressor's adapters. Errors of `run`, with the
/// example's key: `invalid_argument` for a text that exceeds the backbone's window; those of
/// Demonstrations.
Result<std::unique_ptr<MethodSession>> open_labels(LabelParts parts);

}  // namespace qfs::compressors
