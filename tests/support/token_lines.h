// Tokens as the scripts of the tokenizer tests write them: "id,begin,end;" a token and a line end,
// ranges widened to whole characters and counted in them. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::test {

inline std::string token_line(const std::string& text,
                              const std::vector<tokenizers::Token>& tokens) {
  std::vector<int64_t> character(text.size() + 1);
  int64_t count = -1;
  for (size_t i = 0; i < text.size(); ++i) {
    count += (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    character[i] = count;
  }
  character[text.size()] = count + 1;
  std::string result;
  for (const tokenizers::Token& token : tokens) {
    const int64_t begin = character[static_cast<size_t>(token.begin)];
    const int64_t end =
        token.end > token.begin ? character[static_cast<size_t>(token.end) - 1] + 1 : begin;
    result +=
        std::to_string(token.id) + "," + std::to_string(begin) + "," + std::to_string(end) + ";";
  }
  return result + "\n";
}

}  // namespace qfs::test
