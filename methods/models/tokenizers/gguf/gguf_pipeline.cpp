#include "methods/models/tokenizers/gguf/gguf_pipeline.h"

#include <algorithm>
#include <utility>

#include "methods/models/tokenizers/gguf/gguf_patterns.h"
#include "methods/models/tokenizers/gguf/gguf_token_ids.h"
#include "methods/models/tokenizers/pipeline/metaspace.h"
#include "methods/models/tokenizers/pipeline/piece_vocabulary.h"
#include "methods/models/tokenizers/pipeline/pipeline_tokenizer.h"

namespace qfs::tokenizers {

namespace {

using checkpoints::GgufFile;
using Opened = Result<std::shared_ptr<const VocabularyTokenizer>>;

Result<PieceVocabulary> read_pieces(const GgufFile& file) {
  PieceVocabulary list;
  const auto pieces = file.texts("tokenizer.ggml.tokens");
  if (!pieces.ok()) return pieces.error();
  list.texts.assign(pieces->begin(), pieces->end());
  if (file.find("tokenizer.ggml.token_type") == nullptr) return list;
  const auto types = file.integers("tokenizer.ggml.token_type");
  if (!types.ok()) return types.error();
  if (types->size() != pieces->size()) {
    return data_error("'" + file.path() + "' has " + std::to_string(pieces->size()) +
                      " pieces but " + std::to_string(types->size()) + " token types");
  }
  for (const int64_t type : *types) {
    const bool known = type >= 1 && type <= static_cast<int64_t>(PieceType::byte);
    list.types.push_back(known ? static_cast<PieceType>(type) : PieceType::unused);
  }
  return list;
}

/// Begin and end of sequence, as the file names them.
Status read_ends(const GgufFile& file, size_t pieces, PipelineParts& parts) {
  const auto end = read_token_id(file, "tokenizer.ggml.eos_token_id", pieces);
  if (!end.ok()) return end.error();
  parts.end_of_sequence_id = *end;
  const Result<bool> add_first = file.boolean_or("tokenizer.ggml.add_bos_token", false);
  if (!add_first.ok()) return add_first.error();
  if (!*add_first) return {};
  const auto first = read_token_id(file, "tokenizer.ggml.bos_token_id", pieces);
  if (!first.ok()) return first.error();
  if (*first) parts.input_template.single = {{-1, {**first}, 0}, {0, {}, 0}};
  return {};
}

Result<ModelPtr> read_byte_level(const GgufFile& file, const PieceVocabulary& pieces) {
  const Result<VocabularyPtr> vocabulary = vocabulary_of(pieces, file.path());
  if (!vocabulary.ok()) return vocabulary.error();
  const auto lines = file.texts("tokenizer.ggml.merges");
  if (!lines.ok()) return lines.error();
  std::vector<BpeMerge> merges;
  for (const std::string_view line : *lines) {
    const auto rank = static_cast<int32_t>(merges.size());
    const size_t space = line.find(' ', 1);
    if (space == line.npos) {
      return data_error("merge " + std::to_string(rank) + " is not two pieces", file.path());
    }
    const std::string joined = std::string(line.substr(0, space)).append(line.substr(space + 1));
    const BpeMerge merge = {(*vocabulary)->find(line.substr(0, space)),
                            (*vocabulary)->find(line.substr(space + 1)),
                            (*vocabulary)->find(joined), rank};
    if (merge.left < 0 || merge.right < 0 || merge.merged < 0) {
      return data_error(
          "merge " + std::to_string(rank) + " names a piece that the vocabulary lacks",
          file.path());
    }
    merges.push_back(merge);
  }
  BpeOptions options;
  options.byte_symbols = true;
  return make_bpe(*vocabulary, merges, std::move(options));
}

Opened make_byte_level_kind(const GgufFile& file, std::string_view pre) {
  const Result<PieceVocabulary> pieces = read_pieces(file);
  if (!pieces.ok()) return pieces.error();
  const Result<ModelPtr> model = read_byte_level(file, *pieces);
  if (!model.ok()) return model.error();
  std::vector<PreTokenizerPtr> cuts;
  for (const std::string& expression : gguf_patterns(pre)) {
    Result<PatternPtr> pattern = make_regex_pattern(expression);
    if (!pattern.ok()) return pattern.error();
    cuts.push_back(make_split(*std::move(pattern), SplitBehavior::isolated));
  }
  cuts.push_back(make_byte_level({false, false}));
  PipelineParts parts;
  parts.model = *model;
  parts.byte_words = true;
  parts.pre_tokenizer = make_pre_tokenizer_sequence(std::move(cuts));
  parts.decoder = make_byte_level_decoder();
  parts.added_tokens = added_tokens_of(*pieces);
  if (Status status = read_ends(file, pieces->texts.size(), parts); !status.ok()) {
    return status.error();
  }
  return make_pipeline_tokenizer(std::move(parts));
}

/// SentencePiece's BPE.
Opened make_scored_kind(const GgufFile& file) {
  Result<PieceVocabulary> pieces = read_pieces(file);
  if (!pieces.ok()) return pieces.error();
  const checkpoints::GgufEntry* entry = file.find("tokenizer.ggml.scores");
  if (entry != nullptr) {
    if (const auto* scores = std::get_if<checkpoints::GgufNumbers>(&entry->value)) {
      pieces->scores.assign(scores->reals.begin(), scores->reals.end());
    }
  }
  const auto unknown = read_token_id(file, "tokenizer.ggml.unknown_token_id", pieces->texts.size());
  if (!unknown.ok()) return unknown.error();
  const Result<ModelPtr> model = make_scored_bpe(*pieces, *unknown, file.path());
  if (!model.ok()) return model.error();
  const Result<bool> prefix = file.boolean_or("tokenizer.ggml.add_space_prefix", true);
  if (!prefix.ok()) return prefix.error();
  PipelineParts parts;
  parts.model = *model;
  parts.pre_tokenizer = make_metaspace(std::string(kMetaspace), PrependScheme::never, false);
  if (*prefix) parts.normalizer = make_prepend(" ");
  parts.decoder = scored_bpe_decoder(*prefix);
  parts.added_tokens = added_tokens_of(*pieces);
  if (Status status = read_ends(file, pieces->texts.size(), parts); !status.ok()) {
    return status.error();
  }
  return make_pipeline_tokenizer(std::move(parts));
}

/// WordPiece: pieces that begin words carry the mark, the others nothing.
Opened make_word_piece_kind(const GgufFile& file) {
  const Result<PieceVocabulary> pieces = read_pieces(file);
  if (!pieces.ok()) return pieces.error();
  const Result<VocabularyPtr> vocabulary =
      vocabulary_of(*pieces, file.path(), [&](std::string_view piece, size_t id) {
        if (piece.starts_with(kMetaspace)) return std::string(piece.substr(kMetaspace.size()));
        const bool bare = pieces->type(id) != PieceType::normal ||
                          (piece.starts_with('[') && piece.ends_with(']'));
        return (bare ? "" : "##") + std::string(piece);
      });
  if (!vocabulary.ok()) return vocabulary.error();
  const Result<ModelPtr> model = make_word_piece(*vocabulary, {});
  if (!model.ok()) return data_error(model.error().message, file.path());
  const int32_t cls = (*vocabulary)->find("[CLS]");
  const int32_t sep = (*vocabulary)->find("[SEP]");
  if (cls < 0 || sep < 0) return data_error("'" + file.path() + "' has no [CLS] and [SEP]");
  PipelineParts parts;
  parts.model = *model;
  parts.normalizer = make_bert_normalizer({});
  parts.pre_tokenizer = make_bert_pre_tokenizer();
  parts.decoder = make_word_piece_decoder("##", true);
  parts.added_tokens = added_tokens_of(*pieces);
  parts.input_template.single = {{-1, {cls}, 0}, {0, {}, 0}, {-1, {sep}, 0}};
  parts.input_template.pair = parts.input_template.single;
  parts.input_template.pair.insert(parts.input_template.pair.end(), {{1, {}, 1}, {-1, {sep}, 1}});
  parts.end_of_sequence_id = sep;
  return make_pipeline_tokenizer(std::move(parts));
}

}  // namespace

bool has_gguf_pre_tokenizer(std::string_view name) { return !gguf_patterns(name).empty(); }

Opened make_gguf_pipeline(const GgufFile& file) {
  const Result<std::string_view> model = file.text("tokenizer.ggml.model");
  if (!model.ok()) return model.error();
  if (*model == "llama") return make_scored_kind(file);
  if (*model == "bert") return make_word_piece_kind(file);
  if (*model != "gpt2") {
    return unavailable("'" + file.path() + "' has a tokenizer of kind '" + std::string(*model) +
                       "'; this program reads 'gpt2', 'llama' and 'bert'");
  }
  const Result<std::string_view> pre = file.text("tokenizer.ggml.pre");
  if (!pre.ok()) return pre.error();
  if (has_gguf_pre_tokenizer(*pre)) return make_byte_level_kind(file, *pre);
  std::string known = "'gpt-2', 'smollm'";
  for (const std::string_view name : gguf_pattern_names())
    known.append(", '").append(name).append("'");
  return unavailable("'" + file.path() + "' wants the pre-tokenizer '" + std::string(*pre) +
                     "'; this program has " + known);
}

}  // namespace qfs::tokenizers
