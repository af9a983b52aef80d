// Pre-tokenizers: the second step of a tokenizer.json, which cuts a normalized text into the words
// that the model sees one by one.
//
// Made by the readers of formats; used by PipelineTokenizer. Immutable after making; thread-safe.
// Names and behaviour: `pre_tokenizers` of Hugging Face tokenizers 0.23.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "methods/models/tokenizers/pipeline/aligned_text.h"
#include "methods/models/tokenizers/pipeline/pattern.h"

namespace qfs::tokenizers {

/// A word: bytes [begin, end) of a text, never none.
struct Word {
  const AlignedText* text;
  size_t begin;
  size_t end;

  std::string_view view() const { return text->text().substr(begin, end - begin); }
};

/// The words of one stretch of text, and the texts that were rewritten on the way.
struct WordList {
  std::vector<Word> words;
  std::deque<AlignedText> texts;  ///< stable addresses
};

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Cuts or rewrites every word. Throws what its patterns throw.
  virtual void apply(WordList& list) const = 0;
  /// Whether this ends as ByteLevel does, its last step being to write bytes as characters. A model
  /// that reads bytes then asks for apply_before_bytes and saves the step.
  virtual bool ends_in_bytes() const { return false; }
  /// apply() without that last step.
  virtual void apply_before_bytes(WordList& list) const { apply(list); }
};

using PreTokenizerPtr = std::shared_ptr<const PreTokenizer>;

/// What becomes of matches: SplitDelimiterBehavior of the reference.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

enum class PrependScheme { always, first, never };

struct ByteLevelOptions {
  bool add_prefix_space = true;
  bool use_regex = true;
};

PreTokenizerPtr make_split(PatternPtr pattern, SplitBehavior behavior);
PreTokenizerPtr make_byte_level(const ByteLevelOptions& options);
PreTokenizerPtr make_metaspace(std::string replacement, PrependScheme scheme, bool split);
PreTokenizerPtr make_bert_pre_tokenizer();
PreTokenizerPtr make_pre_tokenizer_sequence(std::vector<PreTokenizerPtr> parts);

}  // namespace qfs::tokenizers
