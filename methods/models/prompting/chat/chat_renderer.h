// ChatRenderer: the chat template of one model, ready to make prompts.
//
// Called by prompting methods. A template known by digest is rendered by the function written for
// it (chat_template.h), any other one is run (chat_program.h). Immutable; thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/checkpoints/gguf.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/prompting/chat/chat_template.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::prompting {

/// What a model's files say about its conversations.
struct ChatSettings {
  std::string text;                ///< the template; empty when there is none
  std::string source;              ///< where it is from, for errors
  std::optional<std::string> bos;  ///< the text of bos_token
  std::optional<std::string> eos;
  std::optional<std::string> date;  ///< for templates that ask for today's
  std::string variables = "{}";     ///< more variables as a JSON object
};

/// The template (ModelDirectory::chat_template) and tokens of a Hugging Face folder.
Result<ChatSettings> read_chat_settings(const checkpoints::ModelDirectory& folder);
/// Those that a GGUF file holds.
ChatSettings read_chat_settings(const checkpoints::GgufFile& file);

class ChatRenderer {
 public:
  virtual ~ChatRenderer() = default;

  /// `invalid_argument`: check_chat_inputs. `unavailable` when there is no template or it uses an
  /// unsupported construct, `data` when it is none. The tokenizer's special tokens are what the
  /// template may put in.
  static Result<std::shared_ptr<const ChatRenderer>> open(
      const ChatSettings& settings, const tokenizers::VocabularyTokenizer& tokenizer);

  /// The messages and the opened turn of the assistant. Errors: those of ChatProgram::render.
  virtual Result<std::vector<PromptPiece>> render(std::span<const ChatMessage> messages) const = 0;
};

}  // namespace qfs::prompting
