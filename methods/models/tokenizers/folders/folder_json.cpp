#include "methods/models/tokenizers/folders/folder_json.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "methods/models/tokenizers/pipeline/json_tokenizer.h"
#include "methods/models/tokenizers/sentence_piece/llama_pieces.h"
#include "methods/models/tokenizers/settings/folder_tokens.h"
#include "methods/models/tokenizers/settings/language_frame.h"

namespace qfs::tokenizers {

namespace {

/// The classes of transformers whose arguments in tokenizer_config.json hold against the file.
std::vector<JsonSwitch> switches_of(const TokenizerConfig& config) {
  const std::string_view name = config.base_class();
  struct Argument {
    JsonSwitch one;
    std::optional<bool> value;
  };
  std::vector<Argument> arguments;
  constexpr std::string_view kBytes[] = {"BartTokenizer", "GPT2Tokenizer", "LEDTokenizer",
                                         "RobertaTokenizer"};
  constexpr std::string_view kWordPieces[] = {"BertTokenizer", "DPRContextEncoderTokenizer",
                                              "DPRQuestionEncoderTokenizer", "DistilBertTokenizer"};
  if (std::ranges::find(kBytes, name) != std::end(kBytes)) {
    arguments = {{{"pre_tokenizer", "ByteLevel", "add_prefix_space"}, config.add_prefix_space}};
  } else if (std::ranges::find(kWordPieces, name) != std::end(kWordPieces)) {
    arguments = {
        {{"normalizer", "BertNormalizer", "lowercase"}, config.do_lower_case},
        {{"normalizer", "BertNormalizer", "strip_accents"}, config.strip_accents},
        {{"normalizer", "BertNormalizer", "handle_chinese_chars"}, config.tokenize_chinese_chars}};
  }
  std::vector<JsonSwitch> switches;
  for (Argument& argument : arguments) {
    if (!argument.value) continue;
    argument.one.value = *argument.value;
    switches.push_back(std::move(argument.one));
  }
  return switches;
}

/// The class LlamaTokenizer leaves a tokenizer.json its vocabulary alone; for Mistral's models the
/// file holds whatever class is named (transformers 5.23, tokenization_auto.py).
bool marks_spaces_itself(const TokenizerConfig& config) {
  return config.base_class() == "LlamaTokenizer" && config.model_type != "mistral";
}

Result<InputTemplate> language_template(const LanguageFrame& frame, const PipelineParts& parts,
                                        const std::string& source) {
  const auto known = [&](const AddedToken& token) {
    return token.special && token.content == frame.language && token.content != kSourceEnd;
  };
  const auto language = std::ranges::find_if(parts.added_tokens, known);
  const std::optional<int32_t> end = find_token(parts, kSourceEnd);
  if (language == parts.added_tokens.end() || !end) {
    return data_error("src_lang '" + frame.language + "' is no language of this tokenizer", source);
  }
  const TemplatePart before = {-1, frame.before(language->id), 0};
  const TemplatePart after = {-1, frame.after(language->id, *end), 0};
  InputTemplate made;
  made.single = {before, {0, {}, 0}, after};
  made.pair = {before, {0, {}, 0}, {1, {}, 0}, after};
  return made;
}

}  // namespace

Result<std::shared_ptr<const VocabularyTokenizer>> make_folder_json(std::string_view text,
                                                                    const std::string& source,
                                                                    const TokenizerConfig& config) {
  JsonOverrides overrides = {.switches = switches_of(config), .clean_up = config.clean_up};
  if (marks_spaces_itself(config)) overrides.space_marks = llama_prepend_scheme(config);
  Result<PipelineParts> parts = read_json_tokenizer(text, source, overrides);
  if (!parts.ok()) return parts.error();
  if (Status added = add_folder_tokens(config, source, *parts); !added.ok()) return added.error();
  if (const std::optional<LanguageFrame> frame = language_frame(config)) {
    auto framed = language_template(*frame, *parts, source);
    if (!framed.ok()) return framed.error();
    parts->input_template = *std::move(framed);
  }
  if (const auto end = config.token("eos_token"))
    parts->end_of_sequence_id = find_token(*parts, *end);
  return make_pipeline_tokenizer(*std::move(parts));
}

}  // namespace qfs::tokenizers
