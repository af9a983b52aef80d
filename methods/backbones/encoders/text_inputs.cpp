#include "methods/backbones/encoders/text_inputs.h"

#include <algorithm>

#include "harness/core/error_exception.h"
#include "methods/tokenizers/folders/tokenizer_config.h"
#include "methods/tokenizers/folders/tokenizer_files.h"

namespace qfs::backbones {

Result<TextInputs> TextInputs::open(const std::string& folder, int64_t max_tokens,
                                    bool prefix_space) {
  auto tokenizer = tokenizers::open_tokenizer_files(folder);
  if (!tokenizer.ok()) return tokenizer.error();
  const auto config = tokenizers::read_tokenizer_config(folder);
  if (!config.ok()) return config.error();
  TextInputs inputs;
  inputs.tokenizer_ = *std::move(tokenizer);
  inputs.prefix_space_ = prefix_space;
  const int64_t own = config->model_max_length.value_or(max_tokens);
  inputs.max_tokens_ = static_cast<size_t>(std::min(max_tokens, own));
  // A letter between the tokens of the template: theirs have an empty range.
  const std::vector<tokenizers::Token> letter = inputs.tokenizer_->model_input("a").tokens;
  const auto of_text = [](const tokenizers::Token& token) { return token.end > token.begin; };
  const auto first = std::ranges::find_if(letter, of_text);
  const auto last = std::find_if(letter.rbegin(), letter.rend(), of_text).base();
  for (auto token = letter.begin(); token < first; ++token) inputs.before_.push_back(token->id);
  for (auto token = last; token < letter.end(); ++token) inputs.after_.push_back(token->id);
  if (first == letter.end() || inputs.before_.size() + inputs.after_.size() >= inputs.max_tokens_) {
    return unavailable("the tokenizer puts " + std::to_string(letter.size()) +
                           " tokens of its own around a letter",
                       folder);
  }
  return inputs;
}

Result<TextTokens> TextInputs::tokens(std::string_view text) const {
  std::vector<tokenizers::Token> own;
  try {
    std::string read(text);
    if (prefix_space_ && !read.empty()) read.insert(0, 1, ' ');
    own = tokenizer_->encode_marked(read);
  } catch (const ErrorException& error) {
    return error.error();
  }
  TextTokens result;
  const size_t room = max_tokens_ - before_.size() - after_.size();
  result.truncated = own.size() > room;
  own.resize(std::min(own.size(), room));
  result.ids = before_;
  for (const tokenizers::Token& token : own) result.ids.push_back(token.id);
  result.ids.insert(result.ids.end(), after_.begin(), after_.end());
  for (const int32_t id : result.ids) {
    result.special.push_back(std::ranges::find(before_, id) != before_.end() ||
                             std::ranges::find(after_, id) != after_.end());
  }
  return result;
}

}  // namespace qfs::backbones
