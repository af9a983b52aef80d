#include "methods/models/tokenizers/pipeline/json_tokenizer.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/json_dom.h"
#include "methods/models/tokenizers/pipeline/json_parts.h"

namespace qfs::tokenizers {

namespace {

constexpr size_t kMaxFileBytes = size_t{256} << 20;

/// Reads the member with `read` unless it is absent.
template <class T>
Status read_member(const JsonNode& root, std::string_view key, Result<T> (*read)(const JsonNode&),
                   T& out) {
  const std::optional<JsonNode> node = root.member(key);
  if (!node) return {};
  Result<T> value = read(*node);
  if (!value.ok()) return value.error();
  out = *std::move(value);
  return {};
}

}  // namespace

Result<PipelineParts> read_json_tokenizer(std::string_view text, const std::string& source,
                                          const JsonOverrides& overrides) {
  Result<nlohmann::json> document = parse_json(text, source, {.max_bytes = kMaxFileBytes});
  if (!document.ok()) return document.error();
  for (const JsonSwitch& one : overrides.switches) set_switch(one, *document);
  if (overrides.space_marks) set_space_marks(*overrides.space_marks, *document);
  const JsonNode root(*document, source);
  const std::optional<JsonNode> model = root.member("model");
  if (!model) return root.malformed("the member 'model' is missing: this is no tokenizer.json");
  PipelineParts parts;
  for (Status status :
       {read_member(root, "normalizer", read_normalizer, parts.normalizer),
        read_member(root, "pre_tokenizer", read_pre_tokenizer, parts.pre_tokenizer),
        read_member(root, "post_processor", read_post_processor, parts.input_template),
        read_member(root, "decoder", read_decoder, parts.decoder)}) {
    if (!status.ok()) return status.error();
  }
  Result<std::vector<AddedToken>> added = read_added_tokens(root);
  if (!added.ok()) return added.error();
  parts.added_tokens = *std::move(added);
  const bool bytes = parts.pre_tokenizer != nullptr && parts.pre_tokenizer->ends_in_bytes();
  const Result<std::string> type = model->text_or("type", model->member("merges") ? "BPE" : "");
  const bool bpe = type.ok() && *type == "BPE";
  parts.byte_words = bytes && bpe;
  if (overrides.clean_up && !bpe && parts.decoder != nullptr) {
    parts.decoder = make_decoder_sequence({parts.decoder, make_clean_up_decoder()});
  }
  Result<ModelPtr> read = read_model(*model, parts.byte_words);
  if (!read.ok()) return read.error();
  parts.model = *std::move(read);
  return parts;
}

Result<std::shared_ptr<const VocabularyTokenizer>> make_json_tokenizer(std::string_view text,
                                                                       const std::string& source) {
  Result<PipelineParts> parts = read_json_tokenizer(text, source);
  if (!parts.ok()) return parts.error();
  return make_pipeline_tokenizer(*std::move(parts));
}

}  // namespace qfs::tokenizers
