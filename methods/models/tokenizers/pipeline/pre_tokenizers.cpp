#include <algorithm>
#include <utility>

#include "methods/models/tokenizers/pipeline/normalizer.h"
#include "methods/models/tokenizers/pipeline/pre_tokenizer.h"

namespace qfs::tokenizers {

namespace {

/// Stretches merged as the behaviour says; what stays is to be kept unless `matched`, which now
/// means "to be removed".
void merge(std::vector<Match>& matches, SplitBehavior behavior) {
  if (behavior == SplitBehavior::removed) return;
  if (behavior == SplitBehavior::isolated) {
    for (Match& match : matches) match.matched = false;
    return;
  }
  std::vector<Match> merged;
  bool previous = false;
  const bool backwards = behavior == SplitBehavior::merged_with_next;
  if (backwards) std::reverse(matches.begin(), matches.end());
  for (const Match& match : matches) {
    const bool joins = behavior == SplitBehavior::contiguous ? match.matched == previous
                                                             : match.matched && !previous;
    previous = match.matched;
    if (joins && !merged.empty()) {
      (backwards ? merged.back().begin : merged.back().end) = backwards ? match.begin : match.end;
    } else {
      merged.push_back({match.begin, match.end, false});
    }
  }
  if (backwards) std::reverse(merged.begin(), merged.end());
  matches = std::move(merged);
}

void split_words_by(WordList& list, const Pattern& pattern, SplitBehavior behavior) {
  std::vector<Word> words;
  std::vector<Match> matches;
  for (const Word& word : list.words) {
    matches.clear();
    pattern.find(word.view(), matches);
    merge(matches, behavior);
    for (const Match& match : matches) {
      if (match.matched || match.begin == match.end) continue;
      words.push_back({word.text, word.begin + match.begin, word.begin + match.end});
    }
  }
  list.words = std::move(words);
}

/// Rewrites every word by a normalizer; words that end empty go.
void rewrite_words(WordList& list, const Normalizer& normalizer) {
  std::vector<Word> words;
  for (const Word& word : list.words) {
    AlignedText& text = list.texts.emplace_back(word.text->slice(word.begin, word.end));
    normalizer.apply(text);
    if (!text.text().empty()) words.push_back({&text, 0, text.text().size()});
  }
  list.words = std::move(words);
}

class Split final : public PreTokenizer {
 public:
  Split(PatternPtr pattern, SplitBehavior behavior)
      : pattern_(std::move(pattern)), behavior_(behavior) {}
  void apply(WordList& list) const override { split_words_by(list, *pattern_, behavior_); }

 private:
  PatternPtr pattern_;
  SplitBehavior behavior_;
};

class ByteLevel final : public PreTokenizer {
 public:
  explicit ByteLevel(const ByteLevelOptions& options)
      : options_(options),
        pattern_(make_known_pattern(
            R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)")),
        to_characters_(make_byte_level_normalizer()) {}

  void apply(WordList& list) const override {
    apply_before_bytes(list);
    rewrite_words(list, *to_characters_);
  }
  bool ends_in_bytes() const override { return true; }
  void apply_before_bytes(WordList& list) const override {
    if (options_.add_prefix_space) {
      for (Word& word : list.words) {
        if (word.view().starts_with(' ')) continue;
        AlignedText& text = list.texts.emplace_back(word.text->slice(word.begin, word.end));
        text.prepend(" ");
        word = {&text, 0, text.text().size()};
      }
    }
    if (options_.use_regex) split_words_by(list, *pattern_, SplitBehavior::isolated);
  }

 private:
  ByteLevelOptions options_;
  PatternPtr pattern_;
  NormalizerPtr to_characters_;
};

class Metaspace final : public PreTokenizer {
 public:
  Metaspace(std::string replacement, PrependScheme scheme, bool split)
      : replacement_(std::move(replacement)),
        scheme_(scheme),
        split_(split),
        spaces_(make_text_pattern(" ")),
        marks_(make_text_pattern(replacement_)) {}

  void apply(WordList& list) const override {
    std::vector<Match> matches;
    for (Word& word : list.words) {
      AlignedText& text = list.texts.emplace_back(word.text->slice(word.begin, word.end));
      // Of an empty original nothing is left to begin with.
      const bool at_start = text.source(0, text.text().size()).begin == 0;
      matches.clear();
      spaces_->find(text.text(), matches);
      text.replace(matches, replacement_);
      const bool wanted =
          scheme_ == PrependScheme::always || (scheme_ == PrependScheme::first && at_start);
      if (wanted && !text.text().starts_with(replacement_)) text.prepend(replacement_);
      word = {&text, 0, text.text().size()};
    }
    if (split_) split_words_by(list, *marks_, SplitBehavior::merged_with_next);
  }

 private:
  std::string replacement_;
  PrependScheme scheme_;
  bool split_;
  PatternPtr spaces_;
  PatternPtr marks_;
};

/// White space goes, punctuation stands alone.
class BertPreTokenizer final : public PreTokenizer {
 public:
  void apply(WordList& list) const override {
    std::vector<Word> words;
    for (const Word& word : list.words) {
      size_t begin = word.begin;
      for_each_code_point(word.view(), [&](char32_t c, size_t from, size_t to) {
        const bool space = is_white_space(c);
        if (!space && !is_punctuation(c)) return;
        const size_t at = word.begin + from;
        if (begin < at) words.push_back({word.text, begin, at});
        if (!space) words.push_back({word.text, at, word.begin + to});
        begin = word.begin + to;
      });
      if (begin < word.end) words.push_back({word.text, begin, word.end});
    }
    list.words = std::move(words);
  }
};

class PreTokenizerSequence final : public PreTokenizer {
 public:
  explicit PreTokenizerSequence(std::vector<PreTokenizerPtr> parts) : parts_(std::move(parts)) {}
  void apply(WordList& list) const override {
    for (const PreTokenizerPtr& part : parts_) part->apply(list);
  }
  bool ends_in_bytes() const override {
    // Only the last part may write bytes: after it, the others would see characters.
    return !parts_.empty() && parts_.back()->ends_in_bytes() &&
           std::none_of(parts_.begin(), parts_.end() - 1,
                        [](const PreTokenizerPtr& part) { return part->ends_in_bytes(); });
  }
  void apply_before_bytes(WordList& list) const override {
    for (size_t i = 0; i + 1 < parts_.size(); ++i) parts_[i]->apply(list);
    parts_.back()->apply_before_bytes(list);
  }

 private:
  std::vector<PreTokenizerPtr> parts_;
};

}  // namespace

PreTokenizerPtr make_split(PatternPtr pattern, SplitBehavior behavior) {
  return std::make_shared<const Split>(std::move(pattern), behavior);
}
PreTokenizerPtr make_byte_level(const ByteLevelOptions& options) {
  return std::make_shared<const ByteLevel>(options);
}
PreTokenizerPtr make_metaspace(std::string replacement, PrependScheme scheme, bool split) {
  return std::make_shared<const Metaspace>(std::move(replacement), scheme, split);
}
PreTokenizerPtr make_bert_pre_tokenizer() { return std::make_shared<const BertPreTokenizer>(); }
PreTokenizerPtr make_pre_tokenizer_sequence(std::vector<PreTokenizerPtr> parts) {
  return std::make_shared<const PreTokenizerSequence>(std::move(parts));
}

}  // namespace qfs::tokenizers
