#include "methods/models/prompting/chat/chat_renderer.h"

#include <utility>

#include "harness/core/sha256.h"
#include "methods/models/prompting/chat/chat_inputs.h"
#include "methods/models/prompting/chat/chat_program.h"
#include "methods/models/tokenizers/gguf/gguf_token_ids.h"
#include "methods/models/tokenizers/settings/tokenizer_config.h"

namespace qfs::prompting {

namespace {

/// The text of a token whose id the file names under `key`.
std::optional<std::string> named_token(const checkpoints::GgufFile& file, const std::string& key) {
  const auto pieces = file.texts("tokenizer.ggml.tokens");
  if (!pieces.ok()) return std::nullopt;
  const auto id = tokenizers::read_token_id(file, key, pieces->size());
  if (!id.ok() || !*id) return std::nullopt;
  return std::string((*pieces)[static_cast<size_t>(**id)]);
}

class KnownRenderer final : public ChatRenderer {
 public:
  explicit KnownRenderer(ChatFormat format) : format_(format) {}
  Result<std::vector<PromptPiece>> render(std::span<const ChatMessage> messages) const override {
    return render_chat(format_, messages);
  }

 private:
  ChatFormat format_;
};

class ProgramRenderer final : public ChatRenderer {
 public:
  ProgramRenderer(std::shared_ptr<const ChatProgram> program, const ChatSettings& settings,
                  const tokenizers::VocabularyTokenizer& tokenizer)
      : program_(std::move(program)), specials_(tokenizer.special_texts()) {
    if (settings.bos) inputs_.tokens["bos_token"] = *settings.bos;
    if (settings.eos) inputs_.tokens["eos_token"] = *settings.eos;
    inputs_.date = settings.date;
    inputs_.variables = settings.variables;
  }

  Result<std::vector<PromptPiece>> render(std::span<const ChatMessage> messages) const override {
    ChatInputs inputs = inputs_;
    inputs.messages.assign(messages.begin(), messages.end());
    return program_->render(inputs, specials_);
  }

 private:
  std::shared_ptr<const ChatProgram> program_;
  std::vector<std::string> specials_;
  ChatInputs inputs_;
};

}  // namespace

Result<ChatSettings> read_chat_settings(const checkpoints::ModelDirectory& folder) {
  ChatSettings settings;
  const Result<tokenizers::TokenizerConfig> config =
      tokenizers::read_tokenizer_config(folder.path());
  if (!config.ok()) return config.error();
  settings.bos = config->token("bos_token");
  settings.eos = config->token("eos_token");
  constexpr auto kFile = "chat_template.jinja";
  settings.source = folder.has(kFile) ? folder.file(kFile)
                                      : folder.file("tokenizer_config.json") + "#/chat_template";
  Result<std::string> text = folder.chat_template();
  if (!text.ok()) return text.error();
  settings.text = *std::move(text);
  return settings;
}

ChatSettings read_chat_settings(const checkpoints::GgufFile& file) {
  ChatSettings settings;
  settings.source = file.path() + "#tokenizer.chat_template";
  if (const auto text = file.text("tokenizer.chat_template"); text.ok()) settings.text = *text;
  settings.bos = named_token(file, "tokenizer.ggml.bos_token_id");
  settings.eos = named_token(file, "tokenizer.ggml.eos_token_id");
  return settings;
}

Result<std::shared_ptr<const ChatRenderer>> ChatRenderer::open(
    const ChatSettings& settings, const tokenizers::VocabularyTokenizer& tokenizer) {
  if (Status given = check_chat_inputs(settings.date, settings.variables); !given.ok()) {
    return given.error();
  }
  const std::string digest = settings.text.empty() ? "" : sha256_hex(settings.text);
  const Result<ChatFormat> known = chat_format(digest);
  if (known.ok()) {
    return std::shared_ptr<const ChatRenderer>(std::make_shared<const KnownRenderer>(*known));
  }
  if (settings.text.empty()) return known.error();
  const auto program = ChatProgram::parse(settings.text, settings.source);
  if (!program.ok()) return program.error();
  return std::shared_ptr<const ChatRenderer>(
      std::make_shared<const ProgramRenderer>(*program, settings, tokenizer));
}

}  // namespace qfs::prompting
