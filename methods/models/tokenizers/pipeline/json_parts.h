// Readers of the parts of a tokenizer.json, one source file each.
//
// Called by make_json_tokenizer. An unknown construct is `unavailable`, a malformed one `data`,
// both with the JSON pointer as place. Pure; thread-safe.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "methods/models/tokenizers/pipeline/json_node.h"
#include "methods/models/tokenizers/pipeline/pipeline_tokenizer.h"

namespace qfs::tokenizers {

Result<NormalizerPtr> read_normalizer(const JsonNode& node);
Result<PreTokenizerPtr> read_pre_tokenizer(const JsonNode& node);
/// `byte_words`: the pre-tokenizer ends in bytes, so a BPE model reads them directly.
Result<ModelPtr> read_model(const JsonNode& node, bool byte_words);
Result<std::vector<AddedToken>> read_added_tokens(const JsonNode& root);
Result<InputTemplate> read_post_processor(const JsonNode& node);
Result<DecoderPtr> read_decoder(const JsonNode& node);

/// The member "pattern", {"String": …} or {"Regex": …}.
Result<PatternPtr> read_pattern(const JsonNode& node);
Result<PrependScheme> read_prepend_scheme(const JsonNode& node);

/// The elements of a member that is a list, each read by `read_one`.
template <class Part>
Result<std::vector<Part>> read_list(const JsonNode& node, std::string_view key,
                                    Result<Part> (*read_one)(const JsonNode&)) {
  const Result<std::vector<JsonNode>> items = node.items(key);
  if (!items.ok()) return items.error();
  std::vector<Part> parts;
  for (const JsonNode& item : *items) {
    Result<Part> part = read_one(item);
    if (!part.ok()) return part.error();
    parts.push_back(*std::move(part));
  }
  return parts;
}

}  // namespace qfs::tokenizers
