#include <nlohmann/json.hpp>
#include <utility>

#include "methods/models/tokenizers/pipeline/json_parts.h"
#include "methods/models/tokenizers/pipeline/metaspace.h"

namespace qfs::tokenizers {

namespace {

Result<DecoderPtr> read_word_piece_decoder(const JsonNode& node) {
  const Result<std::string> prefix = node.text_or("prefix", "##");
  if (!prefix.ok()) return prefix.error();
  const Result<bool> cleanup = node.boolean_or("cleanup", true);
  if (!cleanup.ok()) return cleanup.error();
  return make_word_piece_decoder(*prefix, *cleanup);
}

Result<DecoderPtr> read_metaspace_decoder(const JsonNode& node) {
  const Result<std::string> replacement = node.text_or("replacement", std::string(kMetaspace));
  if (!replacement.ok()) return replacement.error();
  const Result<PrependScheme> scheme = read_prepend_scheme(node);
  if (!scheme.ok()) return scheme.error();
  return make_metaspace_decoder(*replacement, *scheme);
}

Result<DecoderPtr> read_strip_decoder(const JsonNode& node) {
  const Result<std::string> content = node.text("content");
  if (!content.ok()) return content.error();
  const Result<int64_t> start = node.integer_or("start", 0);
  if (!start.ok()) return start.error();
  const Result<int64_t> stop = node.integer_or("stop", 0);
  if (!stop.ok()) return stop.error();
  if (content->empty()) return node.malformed("nothing to strip");
  return make_strip_decoder(*content, *start, *stop);
}

Result<DecoderPtr> read_replace_decoder(const JsonNode& node) {
  Result<PatternPtr> read = read_pattern(node);
  if (!read.ok()) return read.error();
  const Result<std::string> content = node.text("content");
  if (!content.ok()) return content.error();
  return make_replace_decoder(*std::move(read), *content);
}

Result<DecoderPtr> read_decoders(const JsonNode& node) {
  Result<std::vector<DecoderPtr>> parts = read_list(node, "decoders", read_decoder);
  if (!parts.ok()) return parts.error();
  return make_decoder_sequence(*std::move(parts));
}

}  // namespace

Result<DecoderPtr> read_decoder(const JsonNode& node) {
  const Result<std::string> type = node.type();
  if (!type.ok()) return type.error();
  if (*type == "Sequence") return read_decoders(node);
  if (*type == "ByteLevel") return make_byte_level_decoder();
  if (*type == "WordPiece") return read_word_piece_decoder(node);
  if (*type == "Metaspace") return read_metaspace_decoder(node);
  if (*type == "ByteFallback") return make_byte_fallback_decoder();
  if (*type == "Fuse") return make_fuse_decoder();
  if (*type == "Strip") return read_strip_decoder(node);
  if (*type == "Replace") return read_replace_decoder(node);
  if (*type == "BPEDecoder") {
    const Result<std::string> suffix = node.text_or("suffix", "</w>");
    if (!suffix.ok()) return suffix.error();
    return make_bpe_decoder(*suffix);
  }
  return node.unsupported("the decoder '" + *type + "'");
}

}  // namespace qfs::tokenizers
