#include "methods/models/tokenizers/folders/vocabulary_files.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/json_dom.h"
#include "harness/core/utf8.h"
#include "methods/models/tokenizers/gguf/gguf_patterns.h"
#include "methods/models/tokenizers/pipeline/pipeline_tokenizer.h"
#include "methods/models/tokenizers/settings/folder_tokens.h"

namespace qfs::tokenizers {

namespace {

using Opened = Result<std::shared_ptr<const VocabularyTokenizer>>;

constexpr const char* kEndOfText = "<|endoftext|>";  // GPT-2's, at both ends of a text

/// Calls visit(line, number) with line ends cut off; stops at the first error.
template <class Visit>
Status for_each_line(std::string_view text, Visit visit) {
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (Status status = visit(line, number); !status.ok()) return status;
  }
  return {};
}

Result<VocabularyPtr> read_ids(std::string_view text, const std::string& source) {
  const Result<nlohmann::json> document = parse_json(text, source);
  if (!document.ok()) return document.error();
  if (!document->is_object()) return data_error("the vocabulary is no JSON object", source);
  std::vector<std::pair<std::string, int64_t>> entries;
  for (const auto& [piece, id] : document->items()) {
    if (!id.is_number_integer()) {
      return data_error("the id of piece '" + piece + "' is no integer", source);
    }
    entries.emplace_back(piece, id.get<int64_t>());
  }
  Result<VocabularyPtr> vocabulary = Vocabulary::make(std::move(entries));
  if (!vocabulary.ok()) return data_error(vocabulary.error().message, source);
  return vocabulary;
}

Result<std::vector<BpeMerge>> read_merge_lines(std::string_view text, const std::string& source,
                                               const Vocabulary& vocabulary) {
  std::vector<BpeMerge> merges;
  std::string joined;
  const Status status = for_each_line(text, [&](std::string_view line, size_t number) -> Status {
    if (line.empty() || (number == 1 && line.starts_with("#version"))) return {};
    const size_t space = line.find(' ');
    const std::string place = source + ":" + std::to_string(number);
    if (space == line.npos) return data_error("the merge is not two pieces", place);
    joined.assign(line.substr(0, space)).append(line.substr(space + 1));
    const BpeMerge merge = {vocabulary.find(line.substr(0, space)),
                            vocabulary.find(line.substr(space + 1)), vocabulary.find(joined),
                            static_cast<int32_t>(merges.size())};
    if (merge.left < 0 || merge.right < 0 || merge.merged < 0) {
      return data_error("the merge names a piece that the vocabulary lacks", place);
    }
    merges.push_back(merge);
    return {};
  });
  if (!status.ok()) return status.error();
  return merges;
}

/// Adds the token when the vocabulary has it and nothing else has named it.
void add_special(const Vocabulary& vocabulary, const std::string& content,
                 std::vector<AddedToken>& tokens) {
  const int32_t id = vocabulary.find(content);
  if (id < 0) return;
  for (const AddedToken& token : tokens) {
    if (token.content == content) return;
  }
  AddedToken token{id, content};
  token.special = true;
  token.normalized = false;
  token.lstrip = content == "<mask>";  // as the published RoBERTa and BART tokenizers
  tokens.push_back(std::move(token));
}

/// How the class of the tokenizer cuts a text into words: Qwen2's in a way of its own
/// (transformers 5.23, tokenization_qwen2.py), the others as GPT-2.
Status set_words(const TokenizerConfig& config, PipelineParts& parts) {
  if (!config.tokenizer_class.starts_with("Qwen2Tokenizer")) {
    parts.pre_tokenizer = make_byte_level({config.add_prefix_space.value_or(false), true});
    return {};
  }
  std::vector<PreTokenizerPtr> cuts;
  for (const std::string& expression : gguf_patterns("qwen2")) {
    Result<PatternPtr> pattern = make_regex_pattern(expression);
    if (!pattern.ok()) return pattern.error();
    cuts.push_back(make_split(*std::move(pattern), SplitBehavior::isolated));
  }
  cuts.push_back(make_byte_level({config.add_prefix_space.value_or(false), false}));
  parts.normalizer = make_unicode_form(UnicodeForm::nfc);
  parts.pre_tokenizer = make_pre_tokenizer_sequence(std::move(cuts));
  return {};
}

/// What is put around texts: RoBERTa's tokens where the vocabulary has them, else the begin and the
/// end that the folder asks for.
Status set_frame(const TokenizerConfig& config, const Vocabulary& vocabulary,
                 const std::string& source, PipelineParts& parts) {
  const int32_t first = vocabulary.find(config.token("cls_token").value_or("<s>"));
  const int32_t last = vocabulary.find(config.token("sep_token").value_or("</s>"));
  const bool framed = first >= 0 && last >= 0;
  const std::string eos = config.token("eos_token").value_or(last >= 0 ? "</s>" : kEndOfText);
  if (const int32_t id = vocabulary.find(eos); id >= 0) parts.end_of_sequence_id = id;
  if (framed) {
    parts.input_template.single = {{-1, {first}, 0}, {0, {}, 0}, {-1, {last}, 0}};
    parts.input_template.pair = {
        {-1, {first}, 0}, {0, {}, 0}, {-1, {last, last}, 0}, {1, {}, 0}, {-1, {last}, 0}};
    return {};
  }
  const std::string bos = config.token("bos_token").value_or(kEndOfText);
  const int32_t begin = vocabulary.find(bos);
  const bool begins = config.add_bos_token.value_or(false);
  const bool ends = config.add_eos_token.value_or(false);
  if (begins && begin < 0) return data_error("the bos_token '" + bos + "' is no piece", source);
  if (ends && !parts.end_of_sequence_id) {
    return data_error("the eos_token '" + eos + "' is no piece", source);
  }
  parts.input_template = template_around(begins ? std::optional(begin) : std::nullopt,
                                         ends ? parts.end_of_sequence_id : std::nullopt);
  return {};
}

}  // namespace

Opened make_vocabulary_and_merges(std::string_view vocabulary_json, std::string_view merges,
                                  const std::string& source, const TokenizerConfig& config) {
  const Result<VocabularyPtr> vocabulary = read_ids(vocabulary_json, source);
  if (!vocabulary.ok()) return vocabulary.error();
  const Result<std::vector<BpeMerge>> pairs = read_merge_lines(merges, source, **vocabulary);
  if (!pairs.ok()) return pairs.error();
  BpeOptions options;
  options.byte_symbols = true;
  const Result<ModelPtr> model = make_bpe(*vocabulary, *pairs, std::move(options));
  if (!model.ok()) return model.error();
  PipelineParts parts;
  parts.model = *model;
  parts.byte_words = true;
  if (Status status = set_words(config, parts); !status.ok()) return status.error();
  parts.decoder = make_byte_level_decoder();
  for (const auto& [name, text] : config.named_tokens) {
    add_special(**vocabulary, text, parts.added_tokens);
  }
  for (const char* text : {"<s>", "<pad>", "</s>", "<unk>", "<mask>", kEndOfText}) {
    add_special(**vocabulary, text, parts.added_tokens);
  }
  if (Status added = add_folder_tokens(config, source, parts); !added.ok()) return added.error();
  if (Status status = set_frame(config, **vocabulary, source, parts); !status.ok()) {
    return status.error();
  }
  return make_pipeline_tokenizer(std::move(parts));
}

Opened make_word_piece_lines(std::string_view lines, const std::string& source,
                             const TokenizerConfig& config) {
  std::vector<std::pair<std::string, int64_t>> entries;
  const Status status = for_each_line(lines, [&](std::string_view line, size_t number) -> Status {
    if (first_ill_formed_utf8(line)) {
      return data_error("the piece is not UTF-8", source + ":" + std::to_string(number));
    }
    entries.emplace_back(line, static_cast<int64_t>(entries.size()));
    return {};
  });
  if (!status.ok()) return status.error();
  const Result<VocabularyPtr> vocabulary = Vocabulary::make(std::move(entries));
  if (!vocabulary.ok()) return data_error(vocabulary.error().message, source);
  WordPieceOptions options;
  options.unk_token = config.token("unk_token").value_or(options.unk_token);
  const Result<ModelPtr> model = make_word_piece(*vocabulary, options);
  if (!model.ok()) return data_error(model.error().message, source);
  BertNormalizerOptions normalizer;
  normalizer.lowercase = config.do_lower_case.value_or(true);
  normalizer.strip_accents = config.strip_accents.value_or(normalizer.lowercase);
  normalizer.handle_chinese_chars = config.tokenize_chinese_chars.value_or(true);
  PipelineParts parts;
  parts.model = *model;
  parts.normalizer = make_bert_normalizer(normalizer);
  parts.pre_tokenizer = make_bert_pre_tokenizer();
  parts.decoder = make_word_piece_decoder("##", true);
  for (const char* text : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) {
    add_special(**vocabulary, text, parts.added_tokens);
  }
  if (Status added = add_folder_tokens(config, source, parts); !added.ok()) return added.error();
  const int32_t cls = (*vocabulary)->find(config.token("cls_token").value_or("[CLS]"));
  const int32_t sep = (*vocabulary)->find(config.token("sep_token").value_or("[SEP]"));
  if (cls < 0 || sep < 0) return data_error("the vocabulary has no [CLS] and [SEP]", source);
  parts.input_template.single = {{-1, {cls}, 0}, {0, {}, 0}, {-1, {sep}, 0}};
  parts.input_template.pair = parts.input_template.single;
  parts.input_template.pair.push_back({1, {}, 1});
  parts.input_template.pair.push_back({-1, {sep}, 1});
  parts.end_of_sequence_id = sep;
  return make_pipeline_tokenizer(std::move(parts));
}

}  // namespace qfs::tokenizers
