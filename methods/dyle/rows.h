// Rows: what DYLE's generator reads of each snippet, and what it learns to write.
//
// Called by dyle's sessions; torch-free. Pure; thread-safe. Source: the released code of Mao et al.
// 2022 for encoder-decoders; decoder-only generators are this program's addition.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/prompting/chat/chat_renderer.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::dyle {

/// What stands between snippet and query in an encoder-decoder's source.
inline constexpr std::string_view kSeparator = " // ";
/// Of decoder-only generators.
inline constexpr std::string_view kDefaultPrompt = "{snippet} // {query}\nSummary:";

/// `invalid_argument`: {snippet} not once, {query} more than once, another placeholder.
Status check_snippet_prompt(std::string_view prompt);

/// What is read of a snippet.
struct SnippetRow {
  std::vector<int32_t> ids;
  int64_t kept_tokens = 0;  ///< of the snippet itself
  bool cut = false;         ///< the snippet has more
  bool query_cut = false;   ///< the query has more
};

/// The conversation that a prompt is a user's turn of.
struct Conversation {
  std::shared_ptr<const prompting::ChatRenderer> renderer;
  std::optional<std::string> system = {};
};

/// One prompt a snippet for a decoder-only generator, at most `most` ids each: the snippet alone is
/// cut, on its right, and what stands around it is tokenized by itself. `chat`, or null.
/// `invalid_argument` when the rest leaves no room; `unavailable` for a template in which a user's
/// text stands nowhere or more than once; errors of ChatRenderer::render.
Result<std::vector<SnippetRow>> snippet_prompts(const tokenizers::VocabularyTokenizer& tokenizer,
                                                std::string_view prompt,
                                                std::span<const std::string> snippets,
                                                std::string_view query, int64_t most,
                                                const Conversation* chat = nullptr);

/// One source a snippet for an encoder-decoder: "snippet // query" inside the tokenizer's frame,
/// cut on its right to `most` ids, so that a long snippet loses its query.
Result<std::vector<SnippetRow>> snippet_sources(const tokenizers::VocabularyTokenizer& tokenizer,
                                                std::span<const std::string> snippets,
                                                std::string_view query, int64_t most);

/// The text of a snippet of which a row of these two holds so many tokens
/// (SnippetRow::kept_tokens).
std::string kept_text(const tokenizers::VocabularyTokenizer& tokenizer, std::string_view snippet,
                      int64_t tokens);

/// What the decoder begins with, and the label of each of its positions; positions without one
/// (nn::kNoLabel) are padding.
struct Target {
  std::vector<int32_t> begun;
  std::vector<int64_t> labels;
};

/// Of a decoder-only generator: blank and summary, in a conversation the summary alone, at most
/// `most` ids with the end token. `begun` is what follows a prompt (all labels but the last).
Target prompted_target(const tokenizers::VocabularyTokenizer& tokenizer, std::string_view summary,
                       bool in_conversation, int32_t end, int64_t most);

/// Of an encoder-decoder, y = the summary in the tokenizer's frame, at most `most` ids, the last
/// one of the frame kept. `released`: begins with y itself, padded to `most`, and learns what is
/// behind each position; else with `start` and learns all of y.
Target decoder_target(const tokenizers::VocabularyTokenizer& tokenizer, std::string_view summary,
                      const std::vector<int32_t>& start, bool released, int32_t padding,
                      int64_t most);

}  // namespace qfs::dyle
