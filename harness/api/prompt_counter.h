// How many tokens a text has where a model reads it, for bounds (MethodSpec::token_bound) that the
// driver checks before anything runs, though it never counts tokens: a session of the light host
// does.
//
// Spoken of by the session (methods/models/prompted) and by the driver that asks it (harness/run).
// The session has the parameters below, reads the model's tokenizer and chat template, takes the
// segments of a document for the pieces of the user's text (one, in a chat), and gives predictions
// without a text whose ledgers have as `document_tokens` those of the prompt up to this text's last
// token.
#pragma once

#include <string_view>

namespace qfs {

inline constexpr std::string_view kPromptCounter = "prompt_counter";
/// Parameters of prompted methods (chat_params.h) that say what stands around the text.
inline constexpr const char* kPromptParams[] = {"chat", "system", "chat_date", "chat_variables"};

}  // namespace qfs
