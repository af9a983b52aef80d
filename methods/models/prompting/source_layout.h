// Source layouts: how an encoder-decoder's input is put together from document and query, and which
// of its tokens attend globally.
//
// Used by specs (validation) and sessions of methods that feed an encoder. Pure; thread-safe.
// Sources: the inputs of SQuALITY's, EGAD's and PRIMERA's models (query before the document,
// special tokens between; global attention on the first token, on the question's, or on the first
// and the separators).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::prompting {

/// Which tokens of an encoder with windowed attention see all and are seen by all.
enum class GlobalTokens { none, first, query, first_and_query, first_and_separators };

/// Names for a method's `global_attention` parameter.
std::vector<std::string> global_token_names();
/// One of global_token_names().
GlobalTokens global_tokens_from(std::string_view name);

/// Whether a layout has {documents}: each segment of a document with a separator behind it.
bool separates_documents(std::string_view layout);

/// Checks a layout: {document} or {documents} once, {query} and {sep} at most twice, nothing else
/// in braces.
Status check_source_layout(std::string_view text);

/// "{query}{sep}{document}", or "{document}" for an example without a query.
std::string_view default_source_layout(bool has_query);

struct SourceTokens {
  std::vector<int32_t> ids;  ///< with the special tokens that the tokenizer's template wants
  std::vector<int64_t> global_positions;  ///< increasing
  std::string text;                       ///< what was put together, separators as their text
};

/// Encodes a checked layout. {sep} is the special token `separator`, which stands behind each of
/// {documents}, too; {document} is all of them, a line each. Text between two separators is encoded
/// as one piece, so words merge as in running text, and text of a document is never a special
/// token. `unavailable`: the vocabulary has no such separator.
Result<SourceTokens> encode_layout(const tokenizers::VocabularyTokenizer& tokenizer,
                                   std::string_view layout, std::string_view separator,
                                   GlobalTokens global, const std::vector<std::string>& documents,
                                   std::string_view query);

}  // namespace qfs::prompting
