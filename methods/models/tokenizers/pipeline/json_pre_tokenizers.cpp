#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "methods/models/tokenizers/pipeline/json_parts.h"
#include "methods/models/tokenizers/pipeline/metaspace.h"

namespace qfs::tokenizers {

namespace {

Result<SplitBehavior> read_behavior(const JsonNode& node, SplitBehavior fallback) {
  const std::optional<JsonNode> member = node.member("behavior");
  if (!member) return fallback;
  constexpr std::array<std::pair<std::string_view, SplitBehavior>, 5> kNames = {{
      {"Removed", SplitBehavior::removed},
      {"Isolated", SplitBehavior::isolated},
      {"MergedWithPrevious", SplitBehavior::merged_with_previous},
      {"MergedWithNext", SplitBehavior::merged_with_next},
      {"Contiguous", SplitBehavior::contiguous},
  }};
  for (const auto& [name, behavior] : kNames) {
    if (member->value() == name) return behavior;
  }
  return member->unsupported("this behavior of a split");
}

Result<PreTokenizerPtr> read_split(const JsonNode& node) {
  Result<PatternPtr> read = read_pattern(node);
  if (!read.ok()) return read.error();
  const Result<bool> invert = node.boolean_or("invert", false);
  if (!invert.ok()) return invert.error();
  const Result<SplitBehavior> behavior = read_behavior(node, SplitBehavior::isolated);
  if (!behavior.ok()) return behavior.error();
  PatternPtr wanted = *std::move(read);
  if (*invert) wanted = make_inverted_pattern(std::move(wanted));
  return make_split(std::move(wanted), *behavior);
}

Result<PreTokenizerPtr> read_byte_level(const JsonNode& node) {
  ByteLevelOptions options;
  const Result<bool> prefix = node.boolean_or("add_prefix_space", true);
  if (!prefix.ok()) return prefix.error();
  const Result<bool> regex = node.boolean_or("use_regex", true);
  if (!regex.ok()) return regex.error();
  options.add_prefix_space = *prefix;
  options.use_regex = *regex;
  return make_byte_level(options);
}

Result<PreTokenizerPtr> read_metaspace(const JsonNode& node) {
  const Result<std::string> replacement = node.text_or("replacement", std::string(kMetaspace));
  if (!replacement.ok()) return replacement.error();
  const Result<PrependScheme> scheme = read_prepend_scheme(node);
  if (!scheme.ok()) return scheme.error();
  const Result<bool> split = node.boolean_or("split", true);
  if (!split.ok()) return split.error();
  return make_metaspace(*replacement, *scheme, *split);
}

Result<PreTokenizerPtr> read_pre_tokenizers(const JsonNode& node) {
  Result<std::vector<PreTokenizerPtr>> parts = read_list(node, "pretokenizers", read_pre_tokenizer);
  if (!parts.ok()) return parts.error();
  return make_pre_tokenizer_sequence(*std::move(parts));
}

Result<PreTokenizerPtr> read_digits(const JsonNode& node) {
  const Result<bool> individual = node.boolean_or("individual_digits", false);
  if (!individual.ok()) return individual.error();
  return make_split(make_property_pattern(is_number),
                    *individual ? SplitBehavior::isolated : SplitBehavior::contiguous);
}

}  // namespace

Result<PatternPtr> read_pattern(const JsonNode& node) {
  const std::optional<JsonNode> own = node.member("pattern");
  if (!own) return node.malformed("the member 'pattern' is missing");
  if (own->value().is_string()) return make_text_pattern(own->value().get<std::string>());
  if (own->member("String")) {
    const Result<std::string> text = own->text("String");
    if (!text.ok()) return text.error();
    return make_text_pattern(*text);
  }
  if (!own->member("Regex")) return own->unsupported("this kind of pattern");
  const Result<std::string> expression = own->text("Regex");
  if (!expression.ok()) return expression.error();
  Result<PatternPtr> pattern = make_regex_pattern(*expression);
  if (pattern.ok()) return pattern;
  Error error = pattern.error();
  error.where = own->place();
  return error;
}

Result<PrependScheme> read_prepend_scheme(const JsonNode& node) {
  // Older files say it by `add_prefix_space`.
  const Result<bool> prefix = node.boolean_or("add_prefix_space", true);
  if (!prefix.ok()) return prefix.error();
  const Result<std::string> scheme = node.text_or("prepend_scheme", *prefix ? "always" : "never");
  if (!scheme.ok()) return scheme.error();
  if (*scheme == "always") return PrependScheme::always;
  if (*scheme == "first") return PrependScheme::first;
  if (*scheme == "never") return PrependScheme::never;
  return node.unsupported("the prepend_scheme '" + *scheme + "'");
}

Result<PreTokenizerPtr> read_pre_tokenizer(const JsonNode& node) {
  const Result<std::string> type = node.type();
  if (!type.ok()) return type.error();
  if (*type == "Sequence") return read_pre_tokenizers(node);
  if (*type == "ByteLevel") return read_byte_level(node);
  if (*type == "Split") return read_split(node);
  if (*type == "Metaspace") return read_metaspace(node);
  if (*type == "Digits") return read_digits(node);
  if (*type == "BertPreTokenizer") return make_bert_pre_tokenizer();
  if (*type == "Whitespace") {
    return make_split(make_inverted_pattern(make_words_pattern()), SplitBehavior::removed);
  }
  if (*type == "WhitespaceSplit") {
    return make_split(make_property_pattern(is_white_space), SplitBehavior::removed);
  }
  if (*type == "Punctuation") {
    const Result<SplitBehavior> behavior = read_behavior(node, SplitBehavior::isolated);
    if (!behavior.ok()) return behavior.error();
    return make_split(make_property_pattern(is_punctuation), *behavior);
  }
  if (*type == "CharDelimiterSplit") {
    const Result<std::string> delimiter = node.text("delimiter");
    if (!delimiter.ok()) return delimiter.error();
    return make_split(make_text_pattern(*delimiter), SplitBehavior::removed);
  }
  return node.unsupported("the pre-tokenizer '" + *type + "'");
}

}  // namespace qfs::tokenizers
