#include <utility>

#include "methods/models/tokenizers/pipeline/code_points.h"
#include "methods/models/tokenizers/pipeline/model.h"

namespace qfs::tokenizers {

namespace {

/// Longest piece first, from the left; a word with a rest that is no piece is unknown as a whole.
class WordPiece final : public Model {
 public:
  WordPiece(VocabularyPtr vocabulary, const WordPieceOptions& options)
      : vocabulary_(std::move(vocabulary)),
        options_(options),
        unk_(vocabulary_->find(options.unk_token)) {
    for (int32_t id = 0; id < vocabulary_->size(); ++id) {
      longest_ = std::max(longest_, vocabulary_->piece(id).size());
    }
  }

  const Vocabulary& vocabulary() const override { return *vocabulary_; }

  void tokenize(std::string_view word, std::vector<Token>& out) const override {
    const size_t first = out.size();
    if (!too_long(word) && add_pieces(word, out)) return;
    out.resize(first);
    out.push_back({unk_, 0, static_cast<int64_t>(word.size())});
  }

 private:
  bool too_long(std::string_view word) const {
    int64_t characters = 0;
    for (size_t position = 0; position < word.size(); ++characters) next_code_point(word, position);
    return characters > options_.max_input_chars_per_word;
  }

  bool add_pieces(std::string_view word, std::vector<Token>& out) const {
    std::string buffer;
    for (size_t begin = 0; begin < word.size();) {
      buffer = begin > 0 ? options_.continuing_subword_prefix : std::string();
      const size_t prefix = buffer.size();
      buffer.append(word.substr(begin, longest_));
      size_t length = std::min(buffer.size(), longest_);
      while (length < buffer.size() && is_continuation(buffer[length])) --length;
      int32_t id = -1;
      while (length > prefix) {
        id = vocabulary_->find(std::string_view(buffer).substr(0, length));
        if (id >= 0) break;
        do {
          --length;
        } while (length > prefix && is_continuation(buffer[length]));
      }
      if (id < 0) return false;
      const size_t end = begin + length - prefix;
      out.push_back({id, static_cast<int64_t>(begin), static_cast<int64_t>(end)});
      begin = end;
    }
    return true;
  }

  static bool is_continuation(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

  VocabularyPtr vocabulary_;
  WordPieceOptions options_;
  int32_t unk_;
  size_t longest_ = 0;
};

}  // namespace

Result<ModelPtr> make_word_piece(VocabularyPtr vocabulary, const WordPieceOptions& options) {
  if (vocabulary->find(options.unk_token) < 0) {
    return data_error("the unknown token '" + options.unk_token + "' is not in the vocabulary");
  }
  return ModelPtr(std::make_shared<const WordPiece>(std::move(vocabulary), options));
}

}  // namespace qfs::tokenizers
