#include <nlohmann/json.hpp>
#include <utility>

#include "methods/models/tokenizers/pipeline/base64.h"
#include "methods/models/tokenizers/pipeline/json_parts.h"

namespace qfs::tokenizers {

namespace {

Result<NormalizerPtr> read_bert(const JsonNode& node) {
  BertNormalizerOptions options;
  struct Switch {
    std::string_view key;
    bool& value;
  };
  for (const auto& [key, value] :
       std::initializer_list<Switch>{{"clean_text", options.clean_text},
                                     {"handle_chinese_chars", options.handle_chinese_chars},
                                     {"lowercase", options.lowercase}}) {
    const Result<bool> read = node.boolean_or(key, value);
    if (!read.ok()) return read.error();
    value = *read;
  }
  // Not said: as the case.
  const Result<bool> strip = node.boolean_or("strip_accents", options.lowercase);
  if (!strip.ok()) return strip.error();
  options.strip_accents = *strip;
  return make_bert_normalizer(options);
}

Result<NormalizerPtr> read_replace(const JsonNode& node) {
  Result<PatternPtr> read = read_pattern(node);
  if (!read.ok()) return read.error();
  const Result<std::string> content = node.text("content");
  if (!content.ok()) return content.error();
  return make_replace(*std::move(read), *content);
}

Result<NormalizerPtr> read_normalizers(const JsonNode& node) {
  Result<std::vector<NormalizerPtr>> parts = read_list(node, "normalizers", read_normalizer);
  if (!parts.ok()) return parts.error();
  return make_normalizer_sequence(*std::move(parts));
}

Result<NormalizerPtr> read_strip(const JsonNode& node) {
  const Result<bool> left = node.boolean_or("strip_left", true);
  if (!left.ok()) return left.error();
  const Result<bool> right = node.boolean_or("strip_right", true);
  if (!right.ok()) return right.error();
  return make_strip(*left, *right);
}

Result<NormalizerPtr> read_charsmap(const JsonNode& node) {
  const Result<std::string> encoded = node.text_or("precompiled_charsmap", "");
  if (!encoded.ok()) return encoded.error();
  const std::optional<std::string> bytes = decode_base64(*encoded);
  if (!bytes) return node.malformed("precompiled_charsmap is not base64");
  Result<NormalizerPtr> made = make_precompiled(*bytes);
  if (!made.ok()) return node.malformed(made.error().message);
  return made;
}

}  // namespace

Result<NormalizerPtr> read_normalizer(const JsonNode& node) {
  const Result<std::string> type = node.type();
  if (!type.ok()) return type.error();
  if (*type == "Sequence") return read_normalizers(node);
  if (*type == "NFC") return make_unicode_form(UnicodeForm::nfc);
  if (*type == "NFD") return make_unicode_form(UnicodeForm::nfd);
  if (*type == "NFKC") return make_unicode_form(UnicodeForm::nfkc);
  if (*type == "NFKD") return make_unicode_form(UnicodeForm::nfkd);
  if (*type == "Lowercase") return make_lowercase();
  if (*type == "StripAccents") return make_strip_accents();
  if (*type == "BertNormalizer") return read_bert(node);
  if (*type == "Replace") return read_replace(node);
  if (*type == "Strip") return read_strip(node);
  if (*type == "Nmt") return make_nmt();
  if (*type == "ByteLevel") return make_byte_level_normalizer();
  if (*type == "Precompiled") return read_charsmap(node);
  if (*type == "Prepend") {
    const Result<std::string> content = node.text("prepend");
    if (!content.ok()) return content.error();
    return make_prepend(*content);
  }
  return node.unsupported("the normalizer '" + *type + "'");
}

}  // namespace qfs::tokenizers
