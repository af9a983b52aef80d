// Chat templates: how a conversation becomes the prompt that a model was tuned on.
//
// Called by prompting methods. Here are the templates that are recognised by the SHA-256 of their
// text and rendered by functions of their own; others are run by chat_program.h, and
// chat_renderer.h takes the one or the other. Text of users and documents stays plain: markers in
// it never become special tokens. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::prompting {

struct ChatMessage {
  std::string role;  ///< "system", "user" or "assistant"
  std::string text;
};

/// A part of a prompt: plain text, or the exact text of one special token.
struct PromptPiece {
  std::string text;
  bool special = false;

  friend bool operator==(const PromptPiece&, const PromptPiece&) = default;
};

enum class ChatFormat {
  smollm2,  ///< ChatML; a default system prompt is put first when the conversation has none
};

/// The format of the template with this digest; `unavailable` for an unknown one.
Result<ChatFormat> chat_format(std::string_view template_sha256);

/// The messages and the opened turn of the assistant.
std::vector<PromptPiece> render_chat(ChatFormat format, std::span<const ChatMessage> messages);

/// The token ids of a prompt that is no conversation: the text inside the special tokens that the
/// tokenizer's file puts around texts, an end token among them where it wants one, as in the
/// reference.
std::vector<int32_t> encode_prompt(const tokenizers::VocabularyTokenizer& tokenizer,
                                   std::string_view text);

/// The tokens of a rendered conversation, which has all its special tokens; ranges are those in
/// prompt_text, empty where it is not known which. Pieces are encoded
/// one by one, as the reference does around special tokens. `unavailable` when a special piece is
/// no special token of the vocabulary.
Result<std::vector<tokenizers::Token>> piece_tokens(
    const tokenizers::VocabularyTokenizer& tokenizer, std::span<const PromptPiece> pieces);
Result<std::vector<int32_t>> encode_pieces(const tokenizers::VocabularyTokenizer& tokenizer,
                                           std::span<const PromptPiece> pieces);

/// The prompt as people read it: all pieces joined.
std::string prompt_text(std::span<const PromptPiece> pieces);

}  // namespace qfs::prompting
