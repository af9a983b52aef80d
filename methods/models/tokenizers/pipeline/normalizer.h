// Normalizers: the first step of a tokenizer.json, which rewrites text and keeps its sources.
//
// Made by the tokenizer.json reader and by the openers of other formats; used by PipelineTokenizer.
// Immutable after making; thread-safe. Names and behaviour: `normalizers` of Hugging Face
// tokenizers 0.23.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/tokenizers/pipeline/aligned_text.h"
#include "methods/models/tokenizers/pipeline/pattern.h"

namespace qfs::tokenizers {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void apply(AlignedText& text) const = 0;
};

using NormalizerPtr = std::shared_ptr<const Normalizer>;

enum class UnicodeForm { nfc, nfd, nfkc, nfkd };

struct BertNormalizerOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  bool strip_accents = true;
  bool lowercase = true;
};

NormalizerPtr make_unicode_form(UnicodeForm form);
NormalizerPtr make_lowercase();
NormalizerPtr make_strip_accents();
NormalizerPtr make_bert_normalizer(const BertNormalizerOptions& options);
NormalizerPtr make_replace(PatternPtr pattern, std::string content);
NormalizerPtr make_prepend(std::string content);
NormalizerPtr make_strip(bool left, bool right);
NormalizerPtr make_nmt();
/// Every byte by the character of GPT-2's alphabet.
NormalizerPtr make_byte_level_normalizer();
/// SentencePiece's table of character sequences, as stored (a double-array trie, then texts).
/// `data`: the table is damaged.
Result<NormalizerPtr> make_precompiled(std::string_view charsmap);
NormalizerPtr make_normalizer_sequence(std::vector<NormalizerPtr> parts);

}  // namespace qfs::tokenizers
