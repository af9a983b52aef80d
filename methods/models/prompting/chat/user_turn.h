// A text in the turn of a user, as a model reads it inside its chat template.
//
// Called by what makes prompts and by what counts their tokens before there are any
// (prompt_counter.h). Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "methods/models/prompting/chat/chat_renderer.h"

namespace qfs::prompting {

struct UserTurn {
  std::vector<tokenizers::Token> tokens;  ///< ranges are those in `text`
  std::string text;                       ///< of the whole conversation
  /// What a byte of the user's text has in front of it there, less its own place; absent where a
  /// template changed the text.
  std::optional<int64_t> moved;
};

/// A user's message, behind a system message where there is one.
std::vector<ChatMessage> user_messages(const std::optional<std::string>& system, std::string text);

/// The turn that these messages are. Errors: those of ChatRenderer::render and
/// piece_tokens.
Result<UserTurn> user_turn(const ChatRenderer& chat,
                           const tokenizers::VocabularyTokenizer& tokenizer,
                           const std::optional<std::string>& system, const std::string& text);

}  // namespace qfs::prompting
