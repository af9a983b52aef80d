#include "methods/zero_shot/session.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/utf8.h"
#include "methods/backbones/backbone.h"
#include "methods/backbones/torch_runtime.h"
#include "methods/generation/generator.h"
#include "methods/tokenizers/chat_renderer.h"
#include "methods/tokenizers/prompt_template.h"
#include "methods/tokenizers/tokenizer.h"
#include "methods/tokenizers/truncation.h"

namespace qfs::zero_shot {

namespace {

using tokenizers::PromptPiece;

struct PreparedPrompt {
  std::vector<PromptPiece> pieces;
  std::vector<int32_t> ids;
  Truncation ledger;
};

class ZeroShotSession final : public MethodSession {
 public:
  ZeroShotSession(const SessionRequest& request,
                  std::shared_ptr<const backbones::Backbone> backbone,
                  std::unique_ptr<backbones::SequenceModel> model,
                  std::shared_ptr<const tokenizers::Tokenizer> counter,
                  std::shared_ptr<const tokenizers::ChatRenderer> chat)
      : params_(request.params),
        backbone_(std::move(backbone)),
        counter_(std::move(counter)),
        chat_(std::move(chat)),
        generator_(backbone_->tokenizer, std::move(model)) {
    options_.max_new_tokens = params_.get<int64_t>("max_new_tokens");
    options_.ignore_stops = request.runtime.ignore_eos;
    options_.stop_ids = backbone_->generation.end_ids;
    if (auto stop = params_.find<std::string>("stop")) options_.stop_texts.push_back(*stop);
  }

  Status run(std::span<const NumberedExample> unit, PredictionSink& sink) override {
    std::vector<PreparedPrompt> prompts;
    std::vector<backbones::SequenceInput> inputs;
    for (const NumberedExample& numbered : unit) {
      Result<PreparedPrompt> prompt = prepare(numbered.example);
      if (!prompt.ok()) return prompt.error();
      inputs.push_back({.ids = prompt->ids});
      prompts.push_back(*std::move(prompt));
    }
    Result<generation::GenerationResult> result = generator_.generate(inputs, options_);
    if (!result.ok()) return result.error();
    for (size_t i = 0; i < unit.size(); ++i) {
      sink.emit(unit[i].ordinal, to_prediction(prompts[i], std::move(result->rows[i])));
    }
    const generation::GenerationTimes& times = result->times;
    sink.phase("prefill", times.prefill_ns, times.prefill_tokens);
    sink.phase("first_token", times.first_token_ns, static_cast<int64_t>(unit.size()));
    sink.phase("decode", times.decode_ns, times.decode_tokens);
    return {};
  }

 private:
  Result<PreparedPrompt> prepare(const Example& example) const {
    const auto policy = tokenizers::truncation_policy_from(params_.get<std::string>("truncate"));
    if (!policy) {
      return invalid_argument("unknown truncation '" + params_.get<std::string>("truncate") + "'");
    }
    auto document = tokenizers::truncate_document(example, *counter_,
                                                  params_.find<int64_t>("local_context"), *policy);
    if (!document.ok()) return document.error();
    PreparedPrompt prompt;
    prompt.ledger = document->ledger;
    std::string text = tokenizers::fill_prompt(params_.get<std::string>("prompt"),
                                               document->joined(), example.query);
    auto pieces = pieces_of(std::move(text));
    if (!pieces.ok()) return pieces.error();
    prompt.pieces = *std::move(pieces);
    auto ids = chat_ ? chat_->encode(prompt.pieces)
                     : tokenizers::encode_prompt(*backbone_->tokenizer, prompt.pieces);
    if (!ids.ok()) return ids.error();
    prompt.ids = *std::move(ids);
    const int64_t window = backbone_->network->shape().context;
    const auto length = static_cast<int64_t>(prompt.ids.size());
    if (length + options_.max_new_tokens <= window) return prompt;
    return invalid_argument("the prompt of example '" + example.key + "' has " +
                            std::to_string(length) + " tokens and leaves no room for " +
                            std::to_string(options_.max_new_tokens) +
                            " new ones in the backbone's window of " + std::to_string(window) +
                            "; lower local_context or max_new_tokens");
  }

  Result<std::vector<PromptPiece>> pieces_of(std::string text) const {
    if (!chat_) return std::vector<PromptPiece>{{std::move(text), false}};
    std::vector<tokenizers::ChatMessage> messages;
    if (auto system = params_.find<std::string>("system")) messages.push_back({"system", *system});
    messages.push_back({"user", std::move(text)});
    return chat_->render(messages);
  }

  static Prediction to_prediction(const PreparedPrompt& prompt, generation::Generated generated) {
    RepairedText repaired = repair_utf8(generated.text);
    Prediction prediction;
    prediction.text = std::move(repaired.text);
    prediction.repaired_bytes = repaired.replaced_bytes;
    prediction.finish = generated.finish;
    prediction.tokens_in = static_cast<int64_t>(prompt.ids.size());
    prediction.tokens_out = static_cast<int64_t>(generated.ids.size());
    prediction.truncation = prompt.ledger;
    prediction.prompt = tokenizers::prompt_text(prompt.pieces);
    return prediction;
  }

  Params params_;
  std::shared_ptr<const backbones::Backbone> backbone_;
  std::shared_ptr<const tokenizers::Tokenizer> counter_;
  std::shared_ptr<const tokenizers::ChatRenderer> chat_;  ///< null: prompts are plain texts
  generation::Generator generator_;
  generation::DecodingOptions options_;
};

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache) {
  if (!request.backbone) return invalid_argument("zero_shot needs a backbone");
  if (Status status = backbones::configure_torch(request.runtime); !status.ok()) {
    return status.error();
  }
  auto backbone = backbones::open_backbone(*request.backbone, cache);
  if (!backbone.ok()) return backbone.error();
  auto model = (*backbone)->network->open(request.runtime, (*backbone)->digest, cache);
  if (!model.ok()) return model.error();
  // Without a tokenizer of the cell, lengths are counted by the backbone's.
  std::shared_ptr<const tokenizers::Tokenizer> counter = (*backbone)->tokenizer;
  if (request.tokenizer) {
    auto opened = cache.get<tokenizers::Tokenizer>("tokenizer:" + request.tokenizer->digest, [&] {
      return tokenizers::open_tokenizer(*request.tokenizer);
    });
    if (!opened.ok()) return opened.error();
    counter = *opened;
  }
  std::shared_ptr<const tokenizers::ChatRenderer> chat;
  if (request.params.get<bool>("chat")) {
    auto renderer = tokenizers::ChatRenderer::open((*backbone)->chat, (*backbone)->tokenizer);
    if (!renderer.ok()) return renderer.error();
    chat = *std::move(renderer);
  }
  return std::unique_ptr<MethodSession>(std::make_unique<ZeroShotSession>(
      request, *backbone, *std::move(model), std::move(counter), std::move(chat)));
}

}  // namespace

SessionFactory session_factory() { return {"zero_shot", &open}; }

}  // namespace qfs::zero_shot
