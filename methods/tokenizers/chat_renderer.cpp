#include "methods/tokenizers/chat_renderer.h"

#include <utility>

#include "harness/core/sha256.h"
#include "methods/tokenizers/chat_program.h"
#include "methods/tokenizers/tokenizer_config.h"

namespace qfs::tokenizers {

namespace {

class KnownRenderer final : public ChatRenderer {
 public:
  KnownRenderer(ChatFormat format, std::shared_ptr<const VocabularyTokenizer> tokenizer)
      : format_(format), tokenizer_(std::move(tokenizer)) {}
  Result<std::vector<PromptPiece>> render(std::span<const ChatMessage> messages) const override {
    return render_chat(format_, messages);
  }
  Result<std::vector<int32_t>> encode(std::span<const PromptPiece> pieces) const override {
    return encode_prompt(*tokenizer_, pieces);
  }

 private:
  ChatFormat format_;
  std::shared_ptr<const VocabularyTokenizer> tokenizer_;
};

class ProgramRenderer final : public ChatRenderer {
 public:
  ProgramRenderer(std::shared_ptr<const ChatProgram> program, const ChatSettings& settings,
                  std::shared_ptr<const VocabularyTokenizer> tokenizer)
      : program_(std::move(program)),
        tokenizer_(std::move(tokenizer)),
        specials_(tokenizer_->special_texts()) {
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

  Result<std::vector<int32_t>> encode(std::span<const PromptPiece> pieces) const override {
    return encode_pieces(*tokenizer_, pieces);
  }

 private:
  std::shared_ptr<const ChatProgram> program_;
  std::shared_ptr<const VocabularyTokenizer> tokenizer_;
  std::vector<std::string> specials_;
  ChatInputs inputs_;
};

}  // namespace

Result<ChatSettings> read_chat_settings(const checkpoints::ModelDirectory& folder) {
  ChatSettings settings;
  const Result<TokenizerConfig> config = read_tokenizer_config(folder.path());
  if (!config.ok()) return config.error();
  settings.bos = config->token("bos_token");
  settings.eos = config->token("eos_token");
  constexpr auto kFile = "chat_template.jinja";
  settings.source = folder.file(folder.has(kFile) ? kFile : "tokenizer_config.json");
  Result<std::string> text = folder.chat_template();
  if (!text.ok()) return text.error();
  settings.text = *std::move(text);
  return settings;
}

Result<std::shared_ptr<const ChatRenderer>> ChatRenderer::open(
    const ChatSettings& settings, std::shared_ptr<const VocabularyTokenizer> tokenizer) {
  const std::string digest = settings.text.empty() ? "" : sha256_hex(settings.text);
  const Result<ChatFormat> known = chat_format(digest);
  if (known.ok()) {
    return std::shared_ptr<const ChatRenderer>(
        std::make_shared<const KnownRenderer>(*known, std::move(tokenizer)));
  }
  if (settings.text.empty()) return known.error();
  const auto program = ChatProgram::parse(settings.text, settings.source);
  if (!program.ok()) return program.error();
  return std::shared_ptr<const ChatRenderer>(
      std::make_shared<const ProgramRenderer>(*program, settings, std::move(tokenizer)));
}

}  // namespace qfs::tokenizers
