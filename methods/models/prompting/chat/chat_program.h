// ChatProgram: a chat template in the language that models are published with (the part of Jinja2
// that such templates use), run by an interpreter of our own.
//
// Called by prompting methods for templates that chat_template.h does not know by digest. Templates
// are programs of strangers: they run under limits of steps (a million) and output (16 MiB), see
// only what is given to them, and change nothing. What is not supported is an error with line and
// column, never skipped. Special tokens come from the template's own text alone; messages stay
// plain. Immutable; thread-safe. Reference: Jinja2 3.1 in the environment of transformers 5
// (trim_blocks, lstrip_blocks, loop controls, raise_exception, strftime_now, tojson without
// escapes).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/json.h"
#include "harness/api/result.h"
#include "methods/models/prompting/chat/chat_template.h"

namespace qfs::prompting {

struct ChatInputs {
  std::vector<ChatMessage> messages;
  bool add_generation_prompt = true;
  std::map<std::string, std::string> tokens;  ///< bos_token, eos_token, …: trusted
  std::optional<std::string> date;            ///< "2026-11-21", for templates that ask for today
  std::string variables = "{}";  ///< a JSON object of more variables (tools, enable_thinking, …)
};

class ChatProgram {
 public:
  /// `data` for what is no template, `unavailable` for an unsupported construct; `where` is
  /// "name:line:column".
  static Result<std::shared_ptr<const ChatProgram>> parse(std::string_view source,
                                                          std::string name);
  virtual ~ChatProgram() = default;

  /// The prompt in pieces: the given special tokens where the template's own text has them, and
  /// what lies between. Errors: `invalid_argument` (the template refuses the conversation),
  /// `unavailable` (an unsupported construct, or a date that was not given), `data` (an error in
  /// the template, or a limit).
  virtual Result<std::vector<PromptPiece>> render(const ChatInputs& inputs,
                                                  std::span<const std::string> specials) const = 0;
};

}  // namespace qfs::prompting
