#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::tokenizers {

std::vector<int32_t> ids_of(std::span<const Token> tokens) {
  std::vector<int32_t> ids;
  ids.reserve(tokens.size());
  for (const Token& token : tokens) ids.push_back(token.id);
  return ids;
}

std::vector<int32_t> VocabularyTokenizer::ids_behind(std::string_view text) const {
  return ids_of(encode(text));
}

ModelInput VocabularyTokenizer::model_input(std::string_view text) const {
  ModelInput input;
  const TextFrame around = frame();
  for (const int32_t id : around.before) input.tokens.push_back({id, 0, 0});
  const std::vector<Token> tokens = encode(text);
  input.tokens.insert(input.tokens.end(), tokens.begin(), tokens.end());
  for (const int32_t id : around.after) input.tokens.push_back({id, 0, 0});
  input.type_ids.assign(input.tokens.size(), 0);
  return input;
}

ModelInput VocabularyTokenizer::model_input(std::string_view first, std::string_view second) const {
  ModelInput input = model_input(first);
  const std::vector<Token> tokens = encode(second);
  input.tokens.insert(input.tokens.end(), tokens.begin(), tokens.end());
  input.type_ids.resize(input.tokens.size(), 1);
  return input;
}

}  // namespace qfs::tokenizers
