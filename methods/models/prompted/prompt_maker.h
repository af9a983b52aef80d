// PromptMaker: what a backbone reads for an example: the document cut to its budget, inside the
// prompt of a decoder-only model or the source of an encoder-decoder.
//
// Made when a session opens; immutable. Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/method.h"
#include "methods/models/architectures/backbone.h"
#include "methods/models/nn/sequence_model.h"
#include "methods/models/prompting/chat/chat_renderer.h"
#include "methods/models/prompting/prompt_template.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::prompted {

struct PreparedPrompt {
  nn::SequenceInput input;
  Truncation ledger;
  std::string text;  ///< as rendered, special tokens as their text
};

// Parameters that methods set, not users: an encoder-decoder's layout of an example without a
// query, where that of others shows it, and its longest source, to which documents are cut; those
// of a decoder are then cut to its window.
inline constexpr const char* kSourceAlone = "source_alone";
inline constexpr const char* kLongestSource = "longest_source";

class PromptMaker {
 public:
  /// `counter` counts the document's tokens. Errors: `unavailable` or `data` for a chat template
  /// that does not run, `invalid_argument` for a parameter that the kind of backbone has no use
  /// for.
  static Result<PromptMaker> open(const Params& params,
                                  std::shared_ptr<const architectures::Backbone> backbone,
                                  std::shared_ptr<const tokenizers::Tokenizer> counter);

  /// Of prompt and output together, at most, which documents are cut to; nothing: no such rule.
  std::optional<int64_t> total_tokens() const;

  /// `invalid_argument` when the prompt and `new_tokens` more do not fit the backbone's window; a
  /// source with a longest length or of several documents is cut until it does. With total_tokens
  /// a document is cut until what is reserved for the output fits, whatever `new_tokens` are.
  Result<PreparedPrompt> prepare(const Example& example, int64_t new_tokens) const;

  /// The same of any length.
  Result<PreparedPrompt> prepare_any_length(const Example& example) const;

  /// The same with so many tokens of the document.
  Result<PreparedPrompt> prepare_cut(const Example& example, int64_t document_tokens) const {
    return fill_cut(example, document_tokens);
  }

  /// The same, cut further where it takes for the input and `new_tokens` more (an encoder-decoder:
  /// for the input) to be at most `most_tokens`. `invalid_argument`: not even without a document.
  Result<PreparedPrompt> prepare_within(const Example& example, int64_t new_tokens,
                                        int64_t most_tokens) const;

  /// The same of a text that is part of an example's document, or stands for it; uncut, without a
  /// ledger.
  Result<PreparedPrompt> prepare_part(const Example& example, const std::string& part,
                                      int64_t new_tokens) const;
  /// A prompt that is filled already, as a decoder-only backbone reads it.
  Result<PreparedPrompt> prepare_text(const Example& example, std::string text,
                                      int64_t new_tokens) const;

 private:
  PromptMaker() = default;
  // Without a look at the window.
  Result<PreparedPrompt> fill_cut(const Example& example,
                                  std::optional<int64_t> document_tokens) const;
  Result<PreparedPrompt> fill_parts(const Example& example,
                                    const std::vector<std::string>& parts) const;
  Status fill_prompt(prompting::FilledPrompt filled, PreparedPrompt& prompt) const;
  Status fill_source(const Example& example, const std::vector<std::string>& documents,
                     PreparedPrompt& prompt) const;
  /// What makes an input shorter, for errors.
  std::string shortening() const;
  Status check_window(const Example& example, int64_t new_tokens,
                      const PreparedPrompt& prompt) const;

  Params params_;
  std::shared_ptr<const architectures::Backbone> backbone_;
  std::shared_ptr<const tokenizers::Tokenizer> counter_;
  std::shared_ptr<const prompting::ChatRenderer> chat_;  ///< null: prompts are plain texts
  // Of an encoder-decoder:
  std::string source_;        ///< layout; empty: the default
  std::string source_alone_;  ///< of examples without a query; empty: as of others
  std::string separator_;
};

}  // namespace qfs::prompted
