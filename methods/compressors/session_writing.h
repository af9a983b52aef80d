// The session of methods that compress: a document is planned, compressed and written about.
//
// Opened by sessions.h. Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "methods/compressors/session_compressor.h"
#include "methods/compressors/session_demonstrations.h"
#include "methods/models/prompted/prompted_model.h"

namespace qfs::compressors {

struct WritingParts {
  uint64_t seed = 0;
  std::string draws;  ///< names the streams of random numbers
  /// Of a document as the backbone reads it, separators between segments among them.
  std::optional<int64_t> most_tokens = {};
  prompted::PromptedModel model;
  std::shared_ptr<const Compressor> compressor;
  std::shared_ptr<const Demonstrations> demonstrations = nullptr;  ///< or none
};

/// Errors: those of binding the compressor's adapters, and of opening_of.
Result<std::unique_ptr<MethodSession>> open_writing(WritingParts parts);

/// The error of an example, which it names.
Error of_example(const NumberedExample& numbered, Error error);

}  // namespace qfs::compressors
