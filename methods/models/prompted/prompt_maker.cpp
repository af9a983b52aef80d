#include "methods/models/prompted/prompt_maker.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "methods/models/prompted/chat_params.h"
#include "methods/models/prompted/memory_params.h"
#include "methods/models/prompted/prompt_text.h"
#include "methods/models/prompted/prompted_params.h"
#include "methods/models/prompting/chat/user_turn.h"
#include "methods/models/prompting/length_params.h"
#include "methods/models/prompting/source_layout.h"
#include "methods/models/prompting/truncation.h"

namespace qfs::prompted {

namespace {

using architectures::Backbone;
using nn::SequenceShape;

Status check_kind(const Params& params, const SequenceShape& shape) {
  if (Status status = check_layout(params, shape.encoder_decoder()); !status.ok()) return status;
  if (!params.has("global_attention") || shape.global_attention) return {};
  return invalid_argument(
      "'global_attention' is for windowed encoder backbones, which this one is not");
}

/// The text of the backbone's end token, which its publishers put between parts of a source.
std::string end_text(const Backbone& backbone) {
  const auto& ends = backbone.generation.end_ids;
  for (const std::string& text : backbone.tokenizer->special_texts()) {
    const auto id = backbone.tokenizer->special_id(text);
    if (id && std::ranges::count(ends, *id) > 0) return text;
  }
  return "</s>";
}

/// The tokens with a byte of a range of the text, which begins `moved` bytes further on there.
nn::TokenSpan tokens_of(const prompting::TextRange& range, int64_t moved,
                        std::span<const tokenizers::Token> tokens) {
  nn::TokenSpan span;
  if (range.begin == range.end) return span;
  const auto begin = static_cast<int64_t>(range.begin) + moved;
  const auto end = static_cast<int64_t>(range.end) + moved;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const tokenizers::Token& token = tokens[i];
    if (token.begin == token.end || token.begin >= end || token.end <= begin) continue;
    const auto at = static_cast<int64_t>(i);
    if (span.count == 0) span.first = at;
    span.count = at + 1 - span.first;
  }
  return span;
}

/// Each piece of a text by itself, together inside what the tokenizer wants around a text.
std::vector<tokenizers::Token> pieces_tokens(const tokenizers::VocabularyTokenizer& tokenizer,
                                             std::span<const std::string_view> pieces) {
  std::vector<tokenizers::Token> tokens;
  const tokenizers::TextFrame frame = tokenizer.frame();
  for (const int32_t id : frame.before) tokens.push_back({id, 0, 0});
  int64_t begin = 0;
  for (const std::string_view piece : pieces) {
    for (tokenizers::Token token : tokenizer.encode(piece)) {
      token.begin += begin;
      token.end += begin;
      tokens.push_back(token);
    }
    begin += static_cast<int64_t>(piece.size());
  }
  for (const int32_t id : frame.after) tokens.push_back({id, 0, 0});
  return tokens;
}

}  // namespace

Result<PromptMaker> PromptMaker::open(const Params& params,
                                      std::shared_ptr<const Backbone> backbone,
                                      std::shared_ptr<const tokenizers::Tokenizer> counter) {
  const SequenceShape& shape = backbone->network->shape();
  if (Status status = check_kind(params, shape); !status.ok()) return status.error();
  PromptMaker maker;
  maker.params_ = params;
  maker.backbone_ = std::move(backbone);
  maker.counter_ = std::move(counter);
  if (shape.encoder_decoder()) {
    maker.source_ = params.find<std::string>("source").value_or("");
    maker.source_alone_ = params.find<std::string>(kSourceAlone).value_or("");
    const auto given = params.find<std::string>("separator");
    maker.separator_ = given ? *given : end_text(*maker.backbone_);
  } else if (params.get<bool>("chat")) {
    prompting::ChatSettings settings = maker.backbone_->chat;
    add_chat_params(params, settings);
    auto chat = prompting::ChatRenderer::open(settings, *maker.backbone_->tokenizer);
    if (!chat.ok()) return chat.error();
    maker.chat_ = *std::move(chat);
  }
  return maker;
}

Result<PreparedPrompt> PromptMaker::prepare_any_length(const Example& example) const {
  return fill_cut(example, document_budget(params_));
}

std::optional<int64_t> PromptMaker::total_tokens() const {
  return params_.find<int64_t>(prompting::kTotalTokens);
}

Result<PreparedPrompt> PromptMaker::prepare(const Example& example, int64_t new_tokens) const {
  if (const auto total = total_tokens()) {
    const int64_t reserved = params_.get<int64_t>(prompting::kReservedTokens);
    auto prompt = prepare_within(example, reserved, *total);
    if (!prompt.ok()) return prompt;
    if (Status fits = check_window(example, reserved, *prompt); !fits.ok()) return fits.error();
    return prompt;
  }
  const SequenceShape& shape = backbone_->network->shape();
  const auto longest = params_.find<int64_t>(kLongestSource);
  if (longest && !shape.encoder_decoder()) {
    return prepare_within(example, new_tokens, shape.context);
  }
  if (shape.encoder_decoder()) {
    if (longest || prompting::separates_documents(source_)) {
      return prepare_within(example, new_tokens, longest.value_or(shape.source_context));
    }
  }
  auto prompt = prepare_any_length(example);
  if (!prompt.ok()) return prompt;
  if (Status fits = check_window(example, new_tokens, *prompt); !fits.ok()) return fits.error();
  return prompt;
}

Result<PreparedPrompt> PromptMaker::prepare_within(const Example& example, int64_t new_tokens,
                                                   int64_t most_tokens) const {
  const SequenceShape& shape = backbone_->network->shape();
  const int64_t behind = shape.encoder_decoder() ? 0 : new_tokens;
  const int64_t most =
      std::min(most_tokens, shape.encoder_decoder() ? shape.source_context : shape.context);
  // Of segments that are cut alike, the longest say nothing of what more tokens would keep.
  const bool alike = prompting::separates_documents(source_);
  std::optional<PreparedPrompt> best;
  // Document tokens, which may be others than the backbone's: so many fit, `over` do not.
  int64_t fits = 0;
  int64_t over = document_budget(params_).value_or(std::numeric_limits<int64_t>::max() - 1) + 1;
  for (int64_t document = std::min(over - 1, most - behind); fits < document && document < over;) {
    auto prompt = fill_cut(example, document);
    if (!prompt.ok()) return prompt;
    over = std::min(over, std::max(document, prompt->ledger.document_tokens) + 1);
    const int64_t excess = static_cast<int64_t>(prompt->input.ids.size()) + behind - most;
    if (excess <= 0) {
      fits = document;
      best = *std::move(prompt);
      const bool all = alike ? best->ledger.kept_tokens == best->ledger.document_tokens
                             : best->ledger.kept_tokens < document;
      if (all) break;
    } else {
      over = alike ? document : std::min(document, prompt->ledger.kept_tokens);
    }
    // As many tokens less, where they are counted as the backbone counts; else by halves.
    const bool by_excess = excess > 0 && !best && over - excess > 0;
    document = by_excess ? over - excess : (fits + over) / 2;
  }
  if (best) return *std::move(best);
  return invalid_argument("the prompt of example '" + example.key + "' and " +
                          std::to_string(behind) + " more tokens leave no room for a document in " +
                          std::to_string(most));
}

Result<PreparedPrompt> PromptMaker::fill_cut(const Example& example,
                                             std::optional<int64_t> document_tokens) const {
  const auto policy = prompting::truncation_policy_from(params_.get<std::string>("truncate"));
  if (!policy) {
    return invalid_argument("unknown truncation '" + params_.get<std::string>("truncate") + "'");
  }
  const auto document =
      prompting::separates_documents(source_)
          ? prompting::truncate_segments(example, *counter_, document_tokens)
          : prompting::truncate_document(example, *counter_, document_tokens, *policy);
  if (!document.ok()) return document.error();
  auto prompt = fill_parts(example, document->texts);
  if (prompt.ok()) prompt->ledger = document->ledger;
  return prompt;
}

Result<PreparedPrompt> PromptMaker::fill_parts(const Example& example,
                                               const std::vector<std::string>& parts) const {
  PreparedPrompt prompt;
  const Status filled =
      backbone_->network->shape().encoder_decoder()
          ? fill_source(example, parts, prompt)
          : fill_prompt(filled_prompt(params_, prompting::TruncatedDocument{{}, parts}.joined(),
                                      example.query),
                        prompt);
  if (!filled.ok()) return filled.error();
  return prompt;
}

Result<PreparedPrompt> PromptMaker::prepare_part(const Example& example, const std::string& part,
                                                 int64_t new_tokens) const {
  auto prompt = fill_parts(example, {part});
  if (!prompt.ok()) return prompt;
  if (Status fits = check_window(example, new_tokens, *prompt); !fits.ok()) return fits.error();
  return prompt;
}

Result<PreparedPrompt> PromptMaker::prepare_text(const Example& example, std::string text,
                                                 int64_t new_tokens) const {
  PreparedPrompt prompt;
  if (Status filled = fill_prompt({std::move(text)}, prompt); !filled.ok()) return filled.error();
  if (Status fits = check_window(example, new_tokens, prompt); !fits.ok()) return fits.error();
  return prompt;
}

Status PromptMaker::fill_prompt(prompting::FilledPrompt filled, PreparedPrompt& prompt) const {
  const tokenizers::VocabularyTokenizer& tokenizer = *backbone_->tokenizer;
  std::vector<tokenizers::Token> tokens;
  int64_t moved = 0;  // bytes of the text that a chat template puts in front
  if (!chat_) {
    tokens = pieces_tokens(tokenizer, prompt_pieces(params_, filled));
    prompt.text = std::move(filled.text);
  } else {
    auto turn =
        prompting::user_turn(*chat_, tokenizer, params_.find<std::string>("system"), filled.text);
    if (!turn.ok()) return turn.error();
    tokens = std::move(turn->tokens);
    prompt.text = std::move(turn->text);
    if (!turn->moved) filled.query = filled.document = {};
    moved = turn->moved.value_or(0);
  }
  prompt.input.ids = tokenizers::ids_of(tokens);
  prompt.input.query = tokens_of(filled.query, moved, tokens);
  prompt.input.document = tokens_of(filled.document, moved, tokens);
  return {};
}

Status PromptMaker::fill_source(const Example& example, const std::vector<std::string>& documents,
                                PreparedPrompt& prompt) const {
  const bool windowed = backbone_->network->shape().global_attention;
  const auto global = prompting::global_tokens_from(
      params_.find<std::string>("global_attention").value_or(windowed ? "first" : "none"));
  const bool has_query = !example.query.empty();
  const std::string& given = has_query || source_alone_.empty() ? source_ : source_alone_;
  auto source = prompting::encode_layout(
      *backbone_->tokenizer, given.empty() ? prompting::default_source_layout(has_query) : given,
      separator_, global, documents, example.query);
  if (!source.ok()) return source.error();
  prompt.input.ids = std::move(source->ids);
  prompt.input.global_positions = std::move(source->global_positions);
  prompt.text = std::move(source->text);
  return {};
}

std::string PromptMaker::shortening() const {
  if (has_memory(params_)) return "input_tokens, raise positions";
  return params_.has("chunk_new_tokens") ? "local_context, or chunk_new_tokens where summaries meet"
                                         : "local_context";
}

Status PromptMaker::check_window(const Example& example, int64_t new_tokens,
                                 const PreparedPrompt& prompt) const {
  const SequenceShape& shape = backbone_->network->shape();
  const auto length = static_cast<int64_t>(prompt.input.ids.size());
  if (shape.encoder_decoder()) {
    if (length <= shape.source_context) return {};
    return invalid_argument("the source of example '" + example.key + "' has " +
                            std::to_string(length) + " tokens; the backbone's encoder reads " +
                            std::to_string(shape.source_context) + "; lower " + shortening());
  }
  const auto segment = params_.find<int64_t>("local_context");
  if (has_memory(params_) && segment) {
    if (Status first = check_first_segment(params_, prompt.input.query.end(), *segment);
        !first.ok()) {
      return invalid_argument("example '" + example.key + "': " + first.error().message +
                              " ('local_context')");
    }
  }
  if (length + new_tokens <= shape.context) return {};
  return invalid_argument("the prompt of example '" + example.key + "' has " +
                          std::to_string(length) + " tokens and leaves no room for " +
                          std::to_string(new_tokens) + " new ones in the backbone's window of " +
                          std::to_string(shape.context) + "; lower " + shortening() +
                          " or max_new_tokens");
}

}  // namespace qfs::prompted
