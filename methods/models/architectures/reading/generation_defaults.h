// What a checkpoint says about generating with it: end tokens, forced tokens, and the decoding
// that its publisher set.
//
// Read from generation_config.json and config.json when a backbone is opened. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/checkpoints/model_directory.h"

namespace qfs::architectures {

/// How the publisher chooses tokens. min_length counts the decoder's first token, as in the file.
struct PublishedDecoding {
  std::string source;  ///< the file
  std::optional<int64_t> min_length;
  std::optional<int64_t> min_new_tokens;
  std::optional<int64_t> num_beams;
  std::optional<double> length_penalty;
  std::optional<std::string> early_stopping;  ///< "yes", "no" or "never"
  std::optional<int64_t> no_repeat_ngram;
  std::optional<double> repetition_penalty;
  bool sample = false;
  std::optional<double> temperature;
  std::optional<int64_t> top_k;
  std::optional<double> top_p;
  /// A setting that changes outputs and that this program does not compute: "file#/key".
  std::optional<std::string> uncomputed;
  std::optional<std::string> uncomputed_draw;  ///< likewise, when tokens are drawn
  /// `data`: one of these has another kind or is out of range. A model can be read without them.
  Status status;
};

struct GenerationDefaults {
  std::vector<int32_t> end_ids;         ///< eos_token_id; empty: the tokenizer's
  std::optional<int32_t> forced_first;  ///< forced_bos_token_id
  std::optional<int32_t> forced_last;   ///< forced_eos_token_id
  PublishedDecoding published;
};

/// From generation_config.json; from config.json where there is no such file, as in transformers.
/// End tokens are config.json's also where the other file does not name them. `data`: an end
/// token or a forced token of another kind or out of range, with its place.
Result<GenerationDefaults> read_generation_defaults(const checkpoints::ModelDirectory& directory);

}  // namespace qfs::architectures
