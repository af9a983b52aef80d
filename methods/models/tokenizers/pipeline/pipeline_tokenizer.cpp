#include "methods/models/tokenizers/pipeline/pipeline_tokenizer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "methods/models/tokenizers/pipeline/word_cache.h"

namespace qfs::tokenizers {

namespace {

class PipelineTokenizer final : public VocabularyTokenizer {
 public:
  explicit PipelineTokenizer(PipelineParts parts)
      : parts_(std::move(parts)), added_(std::move(parts_.added_tokens), parts_.normalizer.get()) {
    size_ = parts_.model->vocabulary().size();
    for (const AddedToken& token : added_.all()) size_ = std::max(size_, token.id + 1);
  }

  std::vector<Token> encode(std::string_view text) const override { return run(text, 0, true); }
  std::vector<Token> encode_marked(std::string_view text) const override {
    return run(text, 0, false);
  }
  std::vector<int32_t> ids_behind(std::string_view text) const override {
    return ids_of(run(text, 1, true));
  }

  int64_t vocabulary_size() const override { return size_; }

  std::string decode(std::span<const int32_t> ids) const override {
    std::vector<std::string> pieces;
    for (const int32_t id : ids) {
      const AddedToken* added = added_.find(id);
      if (added == nullptr && !parts_.model->vocabulary().has(id)) continue;
      const std::string_view piece = added != nullptr ? std::string_view(added->content)
                                                      : parts_.model->vocabulary().piece(id);
      // A special text is special under any id.
      if (!special_id(piece)) pieces.emplace_back(piece);
    }
    if (parts_.decoder != nullptr) parts_.decoder->apply(pieces);
    std::string text;
    for (const std::string& piece : pieces) {
      if (parts_.decoder == nullptr && !text.empty()) text += ' ';
      text += piece;
    }
    return text;
  }

  std::optional<int32_t> special_id(std::string_view text) const override {
    const AddedToken* token = added_.find(text);
    if (token == nullptr || !token->special) return std::nullopt;
    return token->id;
  }

  std::vector<std::string> special_texts() const override {
    std::vector<std::string> texts;
    for (const AddedToken& token : added_.all()) {
      if (token.special) texts.push_back(token.content);
    }
    return texts;
  }

  std::optional<int32_t> end_of_sequence_id() const override { return parts_.end_of_sequence_id; }

  TextFrame frame() const override {
    TextFrame around;
    bool behind = false;
    for (const TemplatePart& part : parts_.input_template.single) {
      std::vector<int32_t>& ids = behind ? around.after : around.before;
      ids.insert(ids.end(), part.ids.begin(), part.ids.end());
      behind = behind || part.sequence >= 0;
    }
    return around;
  }

  ModelInput model_input(std::string_view text) const override {
    const std::vector<Token> tokens = encode(text);
    return fill(parts_.input_template.single, {&tokens, nullptr});
  }

  ModelInput model_input(std::string_view first, std::string_view second) const override {
    const std::vector<Token> tokens = encode(first);
    const std::vector<Token> more = encode(second);
    return fill(parts_.input_template.pair, {&tokens, &more});
  }

 private:
  static ModelInput fill(const std::vector<TemplatePart>& parts,
                         std::array<const std::vector<Token>*, 2> sequences) {
    ModelInput input;
    for (const TemplatePart& part : parts) {
      if (part.sequence < 0) {
        for (const int32_t id : part.ids) input.tokens.push_back({id, 0, 0});
      } else if (const auto* tokens = sequences[static_cast<size_t>(part.sequence)]) {
        input.tokens.insert(input.tokens.end(), tokens->begin(), tokens->end());
      }
      input.type_ids.resize(input.tokens.size(), part.type_id);
    }
    return input;
  }

  /// `base`: where the text begins, to which ranges are relative.
  std::vector<Token> run(std::string_view text, size_t base, bool plain) const {
    if (text.size() > std::numeric_limits<uint32_t>::max()) {
      throw std::length_error("a text of more than 4 GiB cannot be tokenized");
    }
    std::vector<Token> tokens;
    tokens.reserve(text.size() / 4 + 1);
    std::vector<Stretch> stretches;
    if (added_.any(false)) {
      added_.split(text, false, plain, stretches);
    } else if (!text.empty()) {
      stretches.push_back({-1, 0, text.size()});
    }
    const std::lock_guard lock(mutex_);
    for (const Stretch& stretch : stretches) {
      if (stretch.id >= 0) {
        add(stretch.id, base + stretch.begin, base + stretch.end, tokens);
      } else {
        run_plain(text.substr(stretch.begin, stretch.end - stretch.begin), base + stretch.begin,
                  plain, tokens);
      }
    }
    return tokens;
  }

  static void add(int32_t id, size_t begin, size_t end, std::vector<Token>& tokens) {
    tokens.push_back({id, static_cast<int64_t>(begin), static_cast<int64_t>(end)});
  }

  void run_plain(std::string_view part, size_t base, bool plain, std::vector<Token>& tokens) const {
    AlignedText text(part, base);
    if (parts_.normalizer != nullptr) parts_.normalizer->apply(text);
    const size_t size = text.text().size();
    if (size == 0) return;
    if (!added_.any(true)) return run_words(text, 0, size, tokens);
    std::vector<Stretch> stretches;
    added_.split(text.text(), true, plain, stretches);
    for (const Stretch& stretch : stretches) {
      if (stretch.id < 0) {
        run_words(text, stretch.begin, stretch.end, tokens);
      } else {
        const SourceSpan span = text.source(stretch.begin, stretch.end);
        add(stretch.id, span.begin, span.end, tokens);
      }
    }
  }

  void run_words(const AlignedText& text, size_t begin, size_t end,
                 std::vector<Token>& tokens) const {
    WordList list;
    list.words.push_back({&text, begin, end});
    if (parts_.pre_tokenizer != nullptr) {
      if (parts_.byte_words) {
        parts_.pre_tokenizer->apply_before_bytes(list);
      } else {
        parts_.pre_tokenizer->apply(list);
      }
    }
    for (Word word : list.words) {
      const size_t word_end = word.end;
      while (word.begin < word_end) {
        word.end = word_end;
        word.end = word.begin + parts_.model->independent_prefix(word.view());
        add_word(word, tokens);
        word.begin = word.end;
      }
    }
  }

  void add_word(const Word& word, std::vector<Token>& tokens) const {
    const auto add_piece = [&](int32_t id, size_t begin, size_t end) {
      const SourceSpan span = word.text->source(word.begin + begin, word.begin + end);
      tokens.push_back({id, span.begin, span.end});
    };
    const std::string_view text = word.view();
    const bool kept = text.size() <= WordCache::kLongestWord;
    const size_t hash = kept ? WordCache::hash(text) : 0;
    if (kept) {
      if (const auto pieces = cache_.find(text, hash); pieces.data() != nullptr) {
        for (const WordCache::Piece& piece : pieces) add_piece(piece.id, piece.begin, piece.end);
        return;
      }
    }
    scratch_.clear();
    parts_.model->tokenize(text, scratch_);
    for (const Token& token : scratch_) {
      add_piece(token.id, static_cast<size_t>(token.begin), static_cast<size_t>(token.end));
    }
    if (kept && !scratch_.empty()) cache_.insert(text, hash, scratch_);
  }

  PipelineParts parts_;
  AddedTokens added_;
  int32_t size_ = 0;
  mutable std::mutex mutex_;
  mutable WordCache cache_;
  mutable std::vector<Token> scratch_;
};

}  // namespace

InputTemplate template_around(std::optional<int32_t> before, std::optional<int32_t> after) {
  const auto add = [&](std::vector<TemplatePart>& parts, int sequence) {
    if (before) parts.push_back({-1, {*before}, sequence});
    parts.push_back({sequence, {}, sequence});
    if (after) parts.push_back({-1, {*after}, sequence});
  };
  InputTemplate made = {{}, {}};
  add(made.single, 0);
  add(made.pair, 0);
  add(made.pair, 1);
  return made;
}

std::shared_ptr<const VocabularyTokenizer> make_pipeline_tokenizer(PipelineParts parts) {
  return std::make_shared<const PipelineTokenizer>(std::move(parts));
}

}  // namespace qfs::tokenizers
