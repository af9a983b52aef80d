// Demonstrations in front of a prompt (in-context learning): their parameters, the text that one
// is, and the labels that are chosen by perplexity (Gao et al. 2024, arXiv 2405.17052, section
// 4.4).
//
// Used by the specs of this family and its sessions; torch-free. Pure; thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/example.h"
#include "harness/api/method.h"
#include "methods/models/prompting/prompt_template.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::compressors {

/// Role of the file that holds a bank (session_bank.h).
inline constexpr const char* kBank = "bank";
/// Layer of what demonstrations are and become.
inline constexpr const char* kShotsLayer = "shots@2";

/// bank, demonstration, demonstration_tokens, shots, labels, label_scope: of all methods.
std::vector<ParamSpec> demonstration_params();
/// bank_ratio, demonstrations, bank_score, shots_as: of a bank that holds memory.
std::vector<ParamSpec> memory_bank_params();
/// shots_as, of a method that compresses the demonstrations of a bank of tokens.
ParamSpec token_shots_as();
/// The rules between them, with a `ratio` of 0 and with what only a summary needs; `own`: all
/// parameters of the method.
Status check_demonstrations(const Params& params, const std::vector<ParamSpec>& own);
Status check_memory_bank(const Params& params);
/// MethodSpec::check_training of them: a bank has no more demonstrations than its split.
Status check_bank_data(const Params& params, const TrainingFacts& facts);
/// MethodSpec::check_backbone of them: the length that is asked for fits
/// `positions`; 0: they are not known.
Status check_demonstration_positions(const Params& params, int64_t positions);
/// ModelRules::check_file of them: a bank is shown as it was made.
Status check_bank_file(const Params& params, const Params& recipe);
/// The same of one that holds memory, which is no smaller ratio's than its own.
Status check_memory_bank_file(const Params& params, const Params& recipe);

/// Whether a method that compresses all of a document compresses anything: where a label is chosen
/// for it the document is whole.
bool compresses(const Params& params);
/// Demonstrations in front of a prompt; 0: none.
int64_t shots_of(const Params& params);
bool has_bank(const Params& params);
/// A training that learns nothing and makes a bank.
bool bank_alone(const Params& params);
/// Tokens of a demonstration that a row of the bank stands for.
double bank_ratio(const Params& params);
/// Tokens of a demonstration, at most.
int64_t demonstration_tokens(const Params& params);
/// The template of a demonstration.
std::string demonstration_template(const Params& params);
/// The labels to choose from; none: summaries are written.
std::vector<std::string> labels_of(const Params& params);

/// A text and where its answer stands.
struct AnsweredText {
  std::string text;
  prompting::TextRange answer;
};

/// A demonstration of this answer.
AnsweredText demonstration_text(std::string_view text, const Example& example,
                                std::string_view answer);
/// What an example is found by: the same text up to the end of the last placeholder before the
/// answer.
std::string asked_text(std::string_view text, const Example& example);

/// Which tokens of an answered text are its answer's: those that overlap it, so that a space that
/// is joined to the answer is, and a token of its own in front of it is not.
std::vector<bool> answer_tokens(std::span<const tokenizers::Token> tokens,
                                prompting::TextRange answer);

/// exp(mean loss), natural logarithms.
struct Perplexities {
  double label = 0;  ///< of the tokens that overlap the answer
  double full = 0;   ///< of all tokens of the text
};

/// `losses`: of each token of a text, `of_answer` which of them are the answer's.
Perplexities perplexities(std::span<const double> losses, const std::vector<bool>& of_answer);

}  // namespace qfs::compressors
