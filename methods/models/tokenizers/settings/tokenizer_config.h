// What tokenizer_config.json, special_tokens_map.json and added_tokens.json say beside a
// vocabulary.
//
// Used by the openers of tokenizer files. A folder without these files gives empty values. Pure but
// for reading; thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/tokenizers/pipeline/added_tokens.h"

namespace qfs::tokenizers {

struct TokenizerConfig {
  /// "BartTokenizer", …; of mBART and PEGASUS also where config.json alone tells; else empty.
  std::string tokenizer_class;
  std::string model_type;                           ///< of config.json; empty when there is none
  std::map<std::string, std::string> named_tokens;  ///< "bos_token" -> "<s>", …
  std::optional<std::string> source_language;       ///< `src_lang` of mBART
  std::set<std::string> special_texts;              ///< with a name or in a list of special tokens
  std::vector<AddedToken> added_tokens;  ///< of `added_tokens_decoder` and added_tokens.json
  std::optional<bool> add_bos_token;
  std::optional<bool> add_eos_token;
  std::optional<bool> add_prefix_space;
  bool clean_up = false;  ///< clean_up_tokenization_spaces
  std::optional<bool> do_lower_case;
  std::optional<bool> legacy;  ///< of LlamaTokenizer: each stretch of text has a mark in front
  std::optional<bool> strip_accents;
  std::optional<bool> tokenize_chinese_chars;
  std::optional<int64_t> offset;            ///< of PEGASUS: ids before the pieces
  std::optional<int64_t> model_max_length;  ///< none too for a number that means "any"

  /// The class without "Fast" at its end.
  std::string_view base_class() const {
    std::string_view name = tokenizer_class;
    if (name.ends_with("Fast")) name.remove_suffix(4);
    return name;
  }
  std::optional<std::string> token(const std::string& name) const {
    const auto it = named_tokens.find(name);
    return it == named_tokens.end() ? std::nullopt : std::optional(it->second);
  }
};

/// `data` when one of the files is malformed.
Result<TokenizerConfig> read_tokenizer_config(const std::string& folder);

}  // namespace qfs::tokenizers
