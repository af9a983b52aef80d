#include "methods/tokenizers/gguf_pipeline.h"

#include <algorithm>
#include <utility>

#include "methods/tokenizers/gguf_patterns.h"
#include "methods/tokenizers/gguf_token_ids.h"
#include "methods/tokenizers/pipeline/pipeline_tokenizer.h"

namespace qfs::tokenizers {

namespace {

using checkpoints::GgufFile;
using Opened = Result<std::shared_ptr<const VocabularyTokenizer>>;

// llama.cpp's token types.
constexpr int64_t kUnknown = 2;
constexpr int64_t kControl = 3;
constexpr int64_t kUserDefined = 4;

constexpr std::string_view kMark = "\u2581";  // stands for a space

struct GgufVocabulary {
  std::vector<std::string_view> pieces;
  std::vector<int64_t> types;  ///< empty when the file has none

  int64_t type(size_t id) const { return types.empty() ? 1 : types[id]; }
};

Result<GgufVocabulary> read_vocabulary(const GgufFile& file) {
  GgufVocabulary vocabulary;
  const auto pieces = file.texts("tokenizer.ggml.tokens");
  if (!pieces.ok()) return pieces.error();
  vocabulary.pieces.assign(pieces->begin(), pieces->end());
  if (file.find("tokenizer.ggml.token_type") == nullptr) return vocabulary;
  const auto types = file.integers("tokenizer.ggml.token_type");
  if (!types.ok()) return types.error();
  if (types->size() != pieces->size()) {
    return data_error("'" + file.path() + "' has " + std::to_string(pieces->size()) +
                      " pieces but " + std::to_string(types->size()) + " token types");
  }
  vocabulary.types.assign(types->begin(), types->end());
  return vocabulary;
}

/// The vocabulary with each piece as `text(piece, id)` writes it. Equal pieces (files pad with
/// them) keep the first id in front.
template <class Text>
Result<VocabularyPtr> made_vocabulary(const GgufFile& file, const GgufVocabulary& source,
                                      Text text) {
  std::vector<std::pair<std::string, int64_t>> entries;
  for (size_t id = source.pieces.size(); id-- > 0;) {
    entries.emplace_back(text(source.pieces[id], id), static_cast<int64_t>(id));
  }
  Result<VocabularyPtr> vocabulary = Vocabulary::make(std::move(entries));
  if (!vocabulary.ok()) return data_error(vocabulary.error().message, file.path());
  return vocabulary;
}

std::vector<AddedToken> added_tokens(const GgufVocabulary& vocabulary) {
  std::vector<AddedToken> tokens;
  for (size_t id = 0; id < vocabulary.pieces.size(); ++id) {
    const int64_t type = vocabulary.type(id);
    if (type != kControl && type != kUserDefined && type != kUnknown) continue;
    AddedToken token{static_cast<int32_t>(id), std::string(vocabulary.pieces[id])};
    token.special = type != kUserDefined;
    token.normalized = false;
    tokens.push_back(std::move(token));
  }
  return tokens;
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
  parts.prepended_id = *first;
  if (*first) parts.input_template.single = {{-1, {**first}, 0}, {0, {}, 0}};
  return {};
}

Result<ModelPtr> read_byte_level(const GgufFile& file, const GgufVocabulary& source) {
  const Result<VocabularyPtr> vocabulary = made_vocabulary(
      file, source, [](std::string_view piece, size_t) { return std::string(piece); });
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
  const Result<GgufVocabulary> source = read_vocabulary(file);
  if (!source.ok()) return source.error();
  const Result<ModelPtr> model = read_byte_level(file, *source);
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
  parts.added_tokens = added_tokens(*source);
  if (Status status = read_ends(file, source->pieces.size(), parts); !status.ok()) {
    return status.error();
  }
  return make_pipeline_tokenizer(std::move(parts));
}

/// SentencePiece BPE: pieces have scores, and every way to make a piece of two ranks as the piece.
Result<ModelPtr> read_scored(const GgufFile& file, const GgufVocabulary& source) {
  const Result<VocabularyPtr> vocabulary = made_vocabulary(
      file, source, [](std::string_view piece, size_t) { return std::string(piece); });
  if (!vocabulary.ok()) return vocabulary.error();
  const checkpoints::GgufEntry* entry = file.find("tokenizer.ggml.scores");
  const auto* scores =
      entry == nullptr ? nullptr : std::get_if<checkpoints::GgufNumbers>(&entry->value);
  if (scores == nullptr || scores->reals.size() != source.pieces.size()) {
    return data_error("'" + file.path() + "' has no score for each piece of its tokenizer");
  }
  std::vector<double> distinct = scores->reals;
  std::sort(distinct.begin(), distinct.end(), std::greater<>());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<std::optional<int32_t>> ranks;
  for (size_t id = 0; id < source.pieces.size(); ++id) {
    const auto at =
        std::lower_bound(distinct.begin(), distinct.end(), scores->reals[id], std::greater<>());
    const bool ordinary = source.type(id) == 1;
    ranks.push_back(ordinary ? std::optional(static_cast<int32_t>(at - distinct.begin()))
                             : std::nullopt);
  }
  BpeOptions options;
  options.byte_fallback = true;
  options.fuse_unk = true;
  const auto unk = read_token_id(file, "tokenizer.ggml.unknown_token_id", source.pieces.size());
  if (!unk.ok()) return unk.error();
  if (*unk) options.unk_token = std::string(source.pieces[static_cast<size_t>(**unk)]);
  return make_bpe(*vocabulary, merges_of_ranked_pieces(**vocabulary, ranks), std::move(options));
}

Opened make_scored_kind(const GgufFile& file) {
  const Result<GgufVocabulary> source = read_vocabulary(file);
  if (!source.ok()) return source.error();
  const Result<ModelPtr> model = read_scored(file, *source);
  if (!model.ok()) return model.error();
  const Result<bool> prefix = file.boolean_or("tokenizer.ggml.add_space_prefix", true);
  if (!prefix.ok()) return prefix.error();
  PipelineParts parts;
  parts.model = *model;
  parts.pre_tokenizer = make_metaspace(std::string(kMark), PrependScheme::never, false);
  if (*prefix) parts.normalizer = make_prepend(" ");
  parts.decoder =
      make_decoder_sequence({make_replace_decoder(make_text_pattern(std::string(kMark)), " "),
                             make_byte_fallback_decoder(), make_fuse_decoder(),
                             make_strip_decoder(" ", *prefix ? 1 : 0, 0)});
  parts.added_tokens = added_tokens(*source);
  if (Status status = read_ends(file, source->pieces.size(), parts); !status.ok()) {
    return status.error();
  }
  return make_pipeline_tokenizer(std::move(parts));
}

/// WordPiece: pieces that begin words carry the mark, the others nothing.
Opened make_word_piece_kind(const GgufFile& file) {
  const Result<GgufVocabulary> source = read_vocabulary(file);
  if (!source.ok()) return source.error();
  const Result<VocabularyPtr> vocabulary =
      made_vocabulary(file, *source, [&](std::string_view piece, size_t id) {
        if (piece.starts_with(kMark)) return std::string(piece.substr(kMark.size()));
        const bool bare = source->type(id) != 1 || (piece.starts_with('[') && piece.ends_with(']'));
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
  parts.added_tokens = added_tokens(*source);
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
