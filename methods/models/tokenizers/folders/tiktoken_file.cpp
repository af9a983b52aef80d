#include <utility>

#include "harness/core/whole_number.h"
#include "methods/models/tokenizers/bpe/byte_alphabet.h"
#include "methods/models/tokenizers/folders/vocabulary_files.h"
#include "methods/models/tokenizers/pipeline/base64.h"
#include "methods/models/tokenizers/pipeline/pipeline_tokenizer.h"

namespace qfs::tokenizers {

namespace {

// Llama 3's published tokenizer: 128,000 pieces, then 256 special tokens of which these have names
// (llama-models, models/llama3/tokenizer.py).
constexpr int32_t kLlama3Pieces = 128000;
constexpr std::pair<const char*, int32_t> kLlama3Specials[] = {
    {"<|begin_of_text|>", 0}, {"<|end_of_text|>", 1}, {"<|start_header_id|>", 6},
    {"<|end_header_id|>", 7}, {"<|eom_id|>", 8},      {"<|eot_id|>", 9},
    {"<|python_tag|>", 10},
};
constexpr auto kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// The piece (in GPT-2's byte alphabet) and rank of a line.
std::optional<std::pair<std::string, int64_t>> read_line(std::string_view line) {
  const size_t space = line.find(' ');
  if (space == line.npos) return std::nullopt;
  const std::optional<std::string> bytes = decode_base64(line.substr(0, space));
  const auto rank = whole_number<int64_t>(line.substr(space + 1));
  if (!bytes || bytes->empty() || !rank) return std::nullopt;
  std::string piece;
  for (const char c : *bytes) piece += alphabet_character(static_cast<uint8_t>(c));
  return std::pair(std::move(piece), *rank);
}

std::string_view next_line(std::string_view& text) {
  const size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

bool is_tiktoken(std::string_view text) {
  return text.size() > 3 && read_line(next_line(text)).has_value();
}

Result<std::shared_ptr<const VocabularyTokenizer>> make_tiktoken(std::string_view lines,
                                                                 const std::string& source) {
  std::vector<std::pair<std::string, int64_t>> entries;
  for (size_t number = 1; !lines.empty(); ++number) {
    const std::string_view line = next_line(lines);
    if (line.empty()) continue;
    auto entry = read_line(line);
    if (!entry) {
      return data_error("the line is not a base64 piece and its rank",
                        source + ":" + std::to_string(number));
    }
    entries.push_back(*std::move(entry));
  }
  if (entries.size() != kLlama3Pieces) {
    return unavailable("a tiktoken file of " + std::to_string(entries.size()) +
                           " pieces does not say how words are cut; this program knows Llama 3's "
                           "(128000). Use the model's tokenizer.json",
                       source);
  }
  const Result<VocabularyPtr> vocabulary = Vocabulary::make(std::move(entries));
  if (!vocabulary.ok()) return data_error(vocabulary.error().message, source);
  std::vector<std::optional<int32_t>> ranks;
  for (int32_t id = 0; id < (*vocabulary)->size(); ++id) ranks.emplace_back(id);
  BpeOptions options;
  options.byte_symbols = true;
  options.ignore_merges = true;
  const Result<ModelPtr> model =
      make_bpe(*vocabulary, merges_of_ranked_pieces(**vocabulary, ranks), std::move(options));
  if (!model.ok()) return model.error();
  Result<PatternPtr> pattern = make_regex_pattern(kLlama3Pattern);
  if (!pattern.ok()) return pattern.error();
  PipelineParts parts;
  parts.model = *model;
  parts.byte_words = true;
  parts.pre_tokenizer = make_pre_tokenizer_sequence(
      {make_split(*std::move(pattern), SplitBehavior::isolated), make_byte_level({false, false})});
  parts.decoder = make_byte_level_decoder();
  for (const auto& [text, offset] : kLlama3Specials) {
    AddedToken token{kLlama3Pieces + offset, text};
    token.special = true;
    token.normalized = false;
    parts.added_tokens.push_back(std::move(token));
  }
  parts.end_of_sequence_id = kLlama3Pieces + 1;
  parts.input_template.single = {{-1, {kLlama3Pieces}, 0}, {0, {}, 0}};
  return make_pipeline_tokenizer(std::move(parts));
}

}  // namespace qfs::tokenizers
