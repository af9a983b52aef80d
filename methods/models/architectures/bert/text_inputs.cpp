#include "methods/models/architectures/bert/text_inputs.h"

#include <algorithm>

#include "harness/core/error_exception.h"
#include "methods/models/tokenizers/folders/tokenizer_files.h"
#include "methods/models/tokenizers/settings/tokenizer_config.h"

namespace qfs::architectures {

namespace {

bool contains(const std::vector<int32_t>& ids, int32_t id) {
  return std::ranges::find(ids, id) != ids.end();
}

}  // namespace

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
  inputs.frame_ = inputs.tokenizer_->frame();
  if (inputs.frame_.size() >= inputs.max_tokens_) {
    return unavailable("the tokenizer puts " + std::to_string(inputs.frame_.size()) +
                           " tokens of its own around a text; the model reads " +
                           std::to_string(inputs.max_tokens_),
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
  const size_t room = max_tokens_ - frame_.size();
  result.truncated = own.size() > room;
  own.resize(std::min(own.size(), room));
  result.ids = frame_.before;
  for (const tokenizers::Token& token : own) result.ids.push_back(token.id);
  result.ids.insert(result.ids.end(), frame_.after.begin(), frame_.after.end());
  for (const int32_t id : result.ids) {
    result.special.push_back(contains(frame_.before, id) || contains(frame_.after, id));
  }
  return result;
}

}  // namespace qfs::architectures
