#include "methods/models/tokenizers/sentence_piece/llama_pieces.h"

#include <optional>
#include <utility>

#include "methods/models/tokenizers/pipeline/metaspace.h"
#include "methods/models/tokenizers/pipeline/pipeline_tokenizer.h"
#include "methods/models/tokenizers/settings/folder_tokens.h"

namespace qfs::tokenizers {

namespace {

/// The id of the token named `name` ("bos_token"), `usual` where the folder names none.
Result<int32_t> named_id(const PipelineParts& parts, const std::string& source,
                         const TokenizerConfig& config, const std::string& name,
                         const std::string& usual) {
  std::string text = config.token(name).value_or("");
  if (text.empty()) text = usual;
  if (const std::optional<int32_t> id = find_token(parts, text)) return *id;
  return data_error("the " + name + " '" + text + "' is no token", source);
}

}  // namespace

PrependScheme llama_prepend_scheme(const TokenizerConfig& config) {
  if (!config.add_prefix_space.value_or(true)) return PrependScheme::never;
  return config.legacy.value_or(false) ? PrependScheme::always : PrependScheme::first;
}

bool is_llama_pieces(const SentencePieceFile& file, const TokenizerConfig& config) {
  const std::string_view name = config.base_class();
  const bool llama = name == "LlamaTokenizer" || name == "CodeLlamaTokenizer";
  return llama && file.bpe && !file.normalizes;
}

Result<std::shared_ptr<const VocabularyTokenizer>> make_llama_pieces(
    const SentencePieceFile& file, const std::string& source, const TokenizerConfig& config) {
  auto model = make_scored_bpe(file.pieces, file.unknown, source);
  if (!model.ok()) return model.error();
  PipelineParts parts;
  parts.model = *std::move(model);
  parts.added_tokens = added_tokens_of(file.pieces);
  if (Status added = add_folder_tokens(config, source, parts); !added.ok()) return added.error();
  const PrependScheme scheme = llama_prepend_scheme(config);
  parts.pre_tokenizer = make_metaspace(std::string(kMetaspace), scheme, false);
  parts.decoder = scored_bpe_decoder(scheme != PrependScheme::never);
  const auto id_of = [&](const char* name, const char* usual) {
    return named_id(parts, source, config, name, usual);
  };
  const Result<int32_t> end = id_of("eos_token", "</s>");
  if (end.ok()) parts.end_of_sequence_id = *end;
  std::optional<int32_t> before;
  std::optional<int32_t> after;
  if (config.add_bos_token.value_or(true)) {
    const Result<int32_t> begin = id_of("bos_token", "<s>");
    if (!begin.ok()) return begin.error();
    before = *begin;
  }
  if (config.add_eos_token.value_or(false)) {
    if (!end.ok()) return end.error();
    after = *end;
  }
  parts.input_template = template_around(before, after);
  return make_pipeline_tokenizer(std::move(parts));
}

}  // namespace qfs::tokenizers
