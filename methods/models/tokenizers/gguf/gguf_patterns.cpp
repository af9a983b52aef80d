#include "methods/models/tokenizers/gguf/gguf_patterns.h"

namespace qfs::tokenizers {

namespace {

// Cased letters of the scripts that DeepSeek LLM's expression lists.
constexpr std::string_view kDeepseekLetters =
    R"(A-Za-z\u00B5\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u01BA\u01BC-\u01BF\u01C4-\u0293)"
    R"(\u0295-\u02AF\u0370-\u0373\u0376\u0377\u037B-\u037D\u037F\u0386\u0388-\u038A\u038C)"
    R"(\u038E-\u03A1\u03A3-\u03F5\u03F7-\u0481\u048A-\u052F\u0531-\u0556\u10A0-\u10C5)"
    R"(\u13A0-\u13F5\u13F8-\u13FD\u1C90-\u1CBA\u1CBD-\u1CBF\u1D00-\u1D2B\u1D6B-\u1D77)"
    R"(\u1D79-\u1D9A\u1E00-\u1F15\u1F18-\u1F1D\u1F20-\u1F45\u1F48-\u1F4D\u1F50-\u1F57\u1F59)"
    R"(\u1F5B\u1F5D\u1F5F-\u1F7D\u1F80-\u1FB4\u1FB6-\u1FBC\u1FBE\u1FC2-\u1FC4\u1FC6-\u1FCC)"
    R"(\u1FD0-\u1FD3\u1FD6-\u1FDB\u1FE0-\u1FEC\u1FF2-\u1FF4\u1FF6-\u1FFC\u2102\u2107)"
    R"(\u210A-\u2113\u2115\u2119-\u211D\u2124\u2126\u2128\u212A-\u212D\u212F-\u2134\u2139)"
    R"(\u213C-\u213F\u2145-\u2149\u214E\u2183\u2184\u2C00-\u2C7B\u2C7E-\u2CE4\u2CEB-\u2CEE)"
    R"(\u2CF2\u2CF3\uA640-\uA66D\uA680-\uA69B\uA722-\uA76F\uA771-\uA787\uA78B-\uA78E)"
    R"(\uAB70-\uABBF\uFB00-\uFB06\uFB13-\uFB17\uFF21-\uFF3A\uFF41-\uFF5A)"
    R"(\U00010400-\U0001044F\U000104B0-\U000104D3\U000104D8-\U000104FB\U00010C80-\U00010CB2)"
    R"(\U00010CC0-\U00010CF2\U000118A0-\U000118DF\U0001E900-\U0001E943)";

constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kHanAndHangul = R"([\u4E00-\u9FA5\u0800-\u4E00\uAC00-\uD7FF]+)";

std::vector<std::string> deepseek_llm() {
  return {R"([\r\n])",
          R"(\s?[)" + std::string(kDeepseekLetters) + "]+",
          R"(\s?[!-/:-~\uFF01-\uFF0F\uFF1A-\uFF5E\u2018-\u201F\u3000-\u3002]+)",
          R"(\s+$)",
          std::string(kHanAndHangul),
          R"(\p{N}+)"};
}

std::vector<std::string> deepseek_coder() {
  return {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", std::string(kHanAndHangul), R"(\p{N})"};
}

}  // namespace

std::vector<std::string_view> gguf_pattern_names() {
  return {"codeshell", "command-r", "deepseek-coder", "deepseek-llm", "exaone", "falcon",   "jais",
          "llama-bpe", "mpt",       "olmo",           "qwen2",        "refact", "starcoder"};
}

std::vector<std::string> gguf_patterns(std::string_view name) {
  const std::string gpt2(kGpt2);
  if (name == "mpt" || name == "olmo" || name == "jais") return {gpt2};
  if (name == "starcoder" || name == "refact" || name == "command-r" || name == "codeshell" ||
      name == "exaone") {
    return {R"(\p{N})", gpt2};
  }
  if (name == "falcon") return {R"([\p{P}\$\+<=>\^~\|`]+)", gpt2, "[0-9][0-9][0-9]"};
  if (name == "llama-bpe") return {std::string(kLlama3)};
  if (name == "qwen2") return {std::string(kQwen2)};
  if (name == "deepseek-llm") return deepseek_llm();
  if (name == "deepseek-coder") return deepseek_coder();
  return {};
}

}  // namespace qfs::tokenizers
