// Trained files of this family: what they say of themselves, and the form that their tensors have.
//
// Read by the sessions. Pure but for the file; thread-safe. `data`: a file that is damaged, of
// another method, without a tensor or with one of another shape, or that contradicts itself.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "methods/compressors/session_lora_compressors.h"
#include "methods/compressors/session_selfcp.h"
#include "methods/models/checkpoints/checkpoint.h"

namespace qfs::compressors {

/// An opened file with what its metadata say, be it as keys of their own or in our recipe.
struct OpenedFile {
  std::shared_ptr<const checkpoints::Checkpoint> tensors;
  std::map<std::string, std::string> metadata;  ///< as the file has them
  std::map<std::string, std::string> facts;     ///< with the recipe's parameters

  std::optional<std::string> fact(const std::string& name) const;
  /// `data` for a text that is no number, or below `least`.
  Result<std::optional<int64_t>> number(const std::string& name, int64_t least) const;
};

/// `method`: whose the file must be, if it says whose it is; empty: anybody's.
Result<OpenedFile> open_trained_file(const std::string& path, std::string_view method);

struct SelfcpFile {
  SelfcpForm form;
  training::NamedTensors tensors;
  std::map<std::string, std::string> metadata;
};

/// For a backbone of this width. Other tensors in the file are passed over with a warning.
Result<SelfcpFile> read_selfcp(const std::string& path, int64_t hidden);

/// The tensors of `method` (autocompressor, icae) for a decoder, whose names may lack the adapter
/// part or what stands in front of the layers. Without low-rank matrices it has the weights of the
/// adapted model, which the backbone has to be. `unavailable`: the head that ICAE's release may
/// have behind its slots.
Result<LoraTensors> read_lora_tensors(const std::string& path, std::string_view method,
                                      const LoraForm& form, const nn::Decoder& decoder);

}  // namespace qfs::compressors
